#pragma once

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace infino {

/// The text of docs/format/<name>. REQUIRES: the test is compiled with INFINO_DOCS_DIR.
inline std::string FormatDocument(const std::string& name) {
  const std::ifstream file(std::string(INFINO_DOCS_DIR) + "/format/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The content of the first code block of `language` behind the heading `heading`.
inline std::string CodeBlock(const std::string& document, const std::string& heading,
                             const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const size_t section = document.find("\n" + heading + "\n");
  EXPECT_NE(section, std::string::npos) << heading;
  const size_t begin = document.find(fence, section);
  EXPECT_NE(begin, std::string::npos) << heading;
  const size_t end = document.find("\n```", begin + fence.size());
  if (begin == std::string::npos || end == std::string::npos) return {};
  return document.substr(begin + fence.size(), end - begin - fence.size());
}

}  // namespace infino
