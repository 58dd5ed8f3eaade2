#include "py_vectors.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/util/float16.h>
#include <nanobind/nanobind.h>

#include "infino/error.h"
#include "py_error.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

/// How often an object that stands for another (a Series of lists of arrays) is looked into.
constexpr int kDepthMax = 4;

bool IsText(nb::handle object) {
  PyObject* const raw = object.ptr();
  return PyUnicode_Check(raw) != 0 || PyBytes_Check(raw) != 0 || PyByteArray_Check(raw) != 0;
}

/// Whether `object` is one number. Arrays, which become a float if they hold one number, are none.
bool IsNumber(nb::handle object) {
  PyObject* const raw = object.ptr();
  if (PyFloat_Check(raw) != 0 || PyLong_Check(raw) != 0) return true;
  const PyNumberMethods* const methods = Py_TYPE(raw)->tp_as_number;
  if (methods == nullptr) return false;
  return (methods->nb_float != nullptr || methods->nb_index != nullptr) &&
         PySequence_Check(raw) == 0;
}

/// The 16 bits of a half float.
struct Half {
  uint16_t bits = 0;
};

/// Numbers that stand at equal distances in memory, aligned or not.
struct Strided {
  const std::byte* first = nullptr;
  Py_ssize_t count = 0;
  Py_ssize_t stride = 0;
};

template <typename T>
void Copy(const Strided& from, std::vector<float>& to) {
  to.resize(static_cast<size_t>(from.count));
  if (std::is_same_v<T, float> && from.stride == static_cast<Py_ssize_t>(sizeof(T))) {
    if (!to.empty()) std::memcpy(to.data(), from.first, to.size() * sizeof(T));
    return;
  }
  const std::byte* place = from.first;
  for (float& number : to) {
    T value{};
    std::memcpy(&value, place, sizeof(T));
    if constexpr (std::is_same_v<T, Half>) {
      number = arrow::util::Float16::FromBits(value.bits).ToFloat();
    } else {
      number = static_cast<float>(value);
    }
    place += from.stride;
  }
}

using CopyFunction = void (*)(const Strided& from, std::vector<float>& to);

bool IsOneOf(char letter, std::string_view letters) {
  return letters.find(letter) != std::string_view::npos;
}

/// How numbers of a format of the module `struct` are read; null for what are no plain numbers, or
/// numbers of another machine. A letter's width depends on what stands before it; the size tells.
CopyFunction CopyOf(std::string_view format, Py_ssize_t size) {
  static_assert(std::endian::native == std::endian::little);
  if (format.size() == 2 && IsOneOf(format[0], "@=<")) format.remove_prefix(1);
  if (format.size() != 1) return nullptr;
  if (IsOneOf(format[0], "efd")) {
    if (size == 2) return Copy<Half>;
    return size == 4 ? Copy<float> : Copy<double>;
  }
  const bool is_signed = IsOneOf(format[0], "bhilqn");
  if (!is_signed && !IsOneOf(format[0], "BHILQN")) return nullptr;
  switch (size) {
    case 1:
      return is_signed ? Copy<int8_t> : Copy<uint8_t>;
    case 2:
      return is_signed ? Copy<int16_t> : Copy<uint16_t>;
    case 4:
      return is_signed ? Copy<int32_t> : Copy<uint32_t>;
    case 8:
      return is_signed ? Copy<int64_t> : Copy<uint64_t>;
    default:
      return nullptr;
  }
}

/// The memory that an object exposes, for as long as this lives.
class Buffer {
 public:
  explicit Buffer(nb::handle object) {
    if (PyObject_CheckBuffer(object.ptr()) == 0 || IsText(object)) return;
    is_held_ = PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FORMAT | PyBUF_STRIDES) == 0;
    if (!is_held_) PyErr_Clear();
    // numpy's dates promise one dimension and do not describe it.
    is_described_ =
        view_.ndim == 0 || (view_.ndim > 0 && view_.shape != nullptr && view_.strides != nullptr);
  }

  ~Buffer() {
    if (is_held_) PyBuffer_Release(&view_);
  }

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&&) = delete;
  Buffer& operator=(Buffer&&) = delete;

  /// Null if there is none, or not of numbers.
  [[nodiscard]] CopyFunction copy() const {
    if (!is_held_ || !is_described_) return nullptr;
    return CopyOf(view_.format == nullptr ? "B" : view_.format, view_.itemsize);
  }

  [[nodiscard]] int dimensions() const { return view_.ndim; }

  [[nodiscard]] Py_ssize_t size(int dimension) const { return view_.shape[dimension]; }

  /// The numbers along the last dimension, of `row` along the first if there are two.
  [[nodiscard]] Strided Row(Py_ssize_t row) const {
    const int last = view_.ndim - 1;
    const Py_ssize_t begin = view_.ndim == 2 ? row * view_.strides[0] : 0;
    return {.first = static_cast<const std::byte*>(view_.buf) + begin,
            .count = view_.shape[last],
            .stride = view_.strides[last]};
  }

 private:
  Py_buffer view_{};
  bool is_held_ = false;
  bool is_described_ = false;
};

[[noreturn]] void RaiseNoVector(nb::handle object) {
  nb::raise_type_error("a query vector is a sequence of numbers, not %s",
                       Py_TYPE(object.ptr())->tp_name);
}

bool IsList(nb::handle object) {
  return PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0;
}

/// What `object`, no list and no buffer of numbers, stands for: an array or a list.
nb::object Unwrapped(const nb::object& object) {
  PyObject* const raw = object.ptr();
  if (IsText(object) || IsNumber(object) || PyDict_Check(raw) != 0 || PyAnySet_Check(raw) != 0) {
    RaiseNoVector(object);
  }
  // Arrays of numbers of another byte order, or of objects, are made lists, all others arrays.
  const char* const ways_of_buffers[] = {"tolist"};
  const char* const ways_of_others[] = {"__array__", "as_py", "tolist"};
  const auto first_of = [&](const auto& ways) -> nb::object {
    for (const char* const way : ways) {
      if (nb::hasattr(object, way)) return object.attr(way)();
    }
    return {};
  };
  nb::object found =
      PyObject_CheckBuffer(raw) != 0 ? first_of(ways_of_buffers) : first_of(ways_of_others);
  if (found.is_valid()) return found;
  if (PySequence_Check(raw) == 0 && PyIter_Check(raw) == 0) RaiseNoVector(object);
  PyObject* const list = PySequence_List(raw);
  if (list == nullptr) throw nb::python_error();
  return nb::steal(list);
}

/// Converting a number may run code that changes the list, so its length is asked for each time.
void CopyList(nb::handle list, std::vector<float>& to) {
  to.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(list.ptr())));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.ptr()); ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(list.ptr(), i);
    if (PyFloat_CheckExact(item) != 0) {
      to.push_back(static_cast<float>(PyFloat_AS_DOUBLE(item)));
      continue;
    }
    const nb::object held = nb::borrow(item);
    if (!IsNumber(held)) {
      nb::raise_type_error("a query vector holds numbers; place %zd has %s", i,
                           Py_TYPE(item)->tp_name);
    }
    const double number = PyFloat_AsDouble(item);
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    to.push_back(static_cast<float>(number));
  }
}

std::vector<float> VectorOf(nb::object object) {
  std::vector<float> vector;
  for (int depth = 0; depth < kDepthMax; ++depth) {
    if (IsList(object)) {
      CopyList(object, vector);
      return vector;
    }
    const Buffer buffer(object);
    if (const CopyFunction copy = buffer.copy(); copy != nullptr && buffer.dimensions() == 1) {
      copy(buffer.Row(0), vector);
      return vector;
    }
    object = Unwrapped(object);
  }
  RaiseNoVector(object);
}

QueryVectors OfBuffer(const Buffer& buffer, CopyFunction copy) {
  QueryVectors query{.vectors = {}, .is_batch = buffer.dimensions() == 2};
  if (buffer.dimensions() == 0) {
    nb::raise_type_error("a query vector is a sequence of numbers, not a single one");
  }
  if (buffer.dimensions() > 2) {
    RaiseUnlessOk(MakeError(ErrorKind::kInvalidArgument,
                            "a query is a vector or a batch of vectors; the array has " +
                                std::to_string(buffer.dimensions()) + " dimensions"));
  }
  query.vectors.resize(query.is_batch ? static_cast<size_t>(buffer.size(0)) : 1);
  Py_ssize_t row = 0;
  for (std::vector<float>& vector : query.vectors) copy(buffer.Row(row++), vector);
  return query;
}

QueryVectors OfList(const nb::object& list) {
  QueryVectors query;
  PyObject* const raw = list.ptr();
  query.is_batch = PySequence_Fast_GET_SIZE(raw) > 0 &&
                   !IsNumber(PySequence_Fast_GET_ITEM(raw, 0)) &&
                   PySequence_Fast_GET_ITEM(raw, 0) != Py_None;
  if (!query.is_batch) {
    CopyList(list, query.vectors.emplace_back());
    return query;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(raw); ++i) {
    query.vectors.push_back(VectorOf(nb::borrow(PySequence_Fast_GET_ITEM(raw, i))));
  }
  return query;
}

}  // namespace

QueryVectors VectorsOf(nb::object query) {
  for (int depth = 0; depth < kDepthMax; ++depth) {
    if (IsList(query)) return OfList(query);
    const Buffer buffer(query);
    if (const CopyFunction copy = buffer.copy(); copy != nullptr) return OfBuffer(buffer, copy);
    query = Unwrapped(query);
  }
  RaiseNoVector(query);
}

}  // namespace infino::python
