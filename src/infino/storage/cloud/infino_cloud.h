#pragma once

// The C interface of the crate in this folder: object stores of S3, Azure and Google Cloud.
//
// Every request ends with exactly one call of its `done`, on a thread of the crate, which must not
// block; but for those that are under way when infino_cloud_stop is called, which may never end. No
// request is repeated. Texts and arrays that `done` is given are valid only until it returns, while
// `bytes_owner` and `upload` are its own from then on. No panic leaves the crate.
//
// All functions are thread-safe. In a forked child only stores that were opened there, with
// another `generation`, may be used; those of the parent must not even be closed.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct infino_cloud_store infino_cloud_store;
typedef struct infino_cloud_upload infino_cloud_upload;

// UTF-8 without an end mark.
typedef struct {
  const char* data;
  size_t size;
} infino_cloud_text;

typedef enum {
  INFINO_CLOUD_DONE = 0,
  INFINO_CLOUD_PRECONDITION_FAILED = 1,  // Nothing was written.
  INFINO_CLOUD_NOT_MODIFIED = 2,
  INFINO_CLOUD_NOT_FOUND = 3,
  INFINO_CLOUD_UNAVAILABLE = 4,    // The same request may succeed later.
  INFINO_CLOUD_REFUSED = 5,        // Credentials, bucket or options are wrong.
  INFINO_CLOUD_OUTSIDE_RANGE = 6,  // The object has no such bytes.
  INFINO_CLOUD_FAULT = 7           // A panic in the crate.
} infino_cloud_outcome;

typedef struct {
  infino_cloud_text key;
  infino_cloud_text version;  // Empty where listings don't tell it.
  int64_t size;
  int64_t modified_ms;
} infino_cloud_entry;

// What a request came to. Fields that it does not concern are zero.
typedef struct {
  infino_cloud_outcome outcome;
  infino_cloud_text message;  // Of failures: what was tried on which object, and why it failed.
  infino_cloud_entry object;  // Its key is empty.
  const uint8_t* bytes;
  size_t byte_count;
  void* bytes_owner;  // To be given to infino_cloud_release_bytes, unless null.
  const infino_cloud_entry* entries;
  size_t entry_count;
  infino_cloud_text next_page;  // Empty after the last page.
  infino_cloud_upload* upload;  // To be given to infino_cloud_close_upload, unless null.
} infino_cloud_answer;

typedef void (*infino_cloud_done)(void* context, const infino_cloud_answer* answer);

// Bytes that a request sends. The crate reads them until it calls `release`, once, on any thread.
typedef struct {
  const uint8_t* data;
  size_t size;
  void (*release)(void* owner);
  void* owner;
} infino_cloud_body;

typedef enum {
  INFINO_CLOUD_S3 = 0,
  INFINO_CLOUD_AZURE = 1,
  INFINO_CLOUD_GOOGLE = 2
} infino_cloud_kind;

typedef struct {
  infino_cloud_kind kind;
  infino_cloud_text bucket;
  const infino_cloud_text* options;  // Keys and values by turns.
  size_t option_count;               // Of both together.
  uint64_t generation;               // How many forks this process is away from the first one.
} infino_cloud_place;

// Opens a bucket without a request to it; null after a failure, whose message `failed` is given
// before the return. `*timeout_ms` is how long an operation may take to get an answer; a single
// request gets four tenths of it.
infino_cloud_store* infino_cloud_open(const infino_cloud_place* place, int64_t* timeout_ms,
                                      void (*failed)(void* context, infino_cloud_text message),
                                      void* context);

// Requests that are under way go on.
void infino_cloud_close(infino_cloud_store* store);

// Reads an object; with a `known` version that is not empty, only if it has another one.
void infino_cloud_get(const infino_cloud_store* store, infino_cloud_text key,
                      infino_cloud_text known, infino_cloud_done done, void* context);

// Reads `length` bytes, at least one, from `offset` on; fewer if the object ends before.
void infino_cloud_get_range(const infino_cloud_store* store, infino_cloud_text key, uint64_t offset,
                            uint64_t length, infino_cloud_done done, void* context);

void infino_cloud_head(const infino_cloud_store* store, infino_cloud_text key,
                       infino_cloud_done done, void* context);

// Writes an object if none is there (`expected` empty), or if it has the `expected` version.
void infino_cloud_put(const infino_cloud_store* store, infino_cloud_text key,
                      infino_cloud_body body, infino_cloud_text expected, infino_cloud_done done,
                      void* context);

// Deletes an object. One that is absent counts as deleted.
void infino_cloud_delete(const infino_cloud_store* store, infino_cloud_text key,
                         infino_cloud_done done, void* context);

// Lists the objects whose keys start with `prefix`, one page a call: `page` is empty, or the
// `next_page` of the call before. Not in any order.
void infino_cloud_list(const infino_cloud_store* store, infino_cloud_text prefix,
                       infino_cloud_text page, infino_cloud_done done, void* context);

void infino_cloud_begin_upload(const infino_cloud_store* store, infino_cloud_text key,
                               infino_cloud_done done, void* context);

// Sends part `number`, counted from 0; again, with the same bytes, after a failure.
void infino_cloud_put_part(const infino_cloud_upload* upload, uint64_t number,
                           infino_cloud_body body, infino_cloud_done done, void* context);

// Makes the object of parts 0 to `part_count` - 1, which were all sent, if none is there.
// INFINO_CLOUD_NOT_FOUND: the service does not know the upload, maybe since it is complete.
void infino_cloud_complete_upload(const infino_cloud_upload* upload, uint64_t part_count,
                                  infino_cloud_done done, void* context);

// Removes what was sent, where a service can.
void infino_cloud_abort_upload(const infino_cloud_upload* upload, infino_cloud_done done,
                               void* context);

void infino_cloud_close_upload(infino_cloud_upload* upload);

void infino_cloud_release_bytes(void* owner);

// For the end of the process: waits until no `done` and no `release` is being called any more, and
// from then on calls none.
void infino_cloud_stop(void);

#ifdef __cplusplus
}
#endif
