#include "journal/token_shapes.h"

#include <array>

namespace ralph {
namespace {

using enum Letters;

constexpr bool kWholeWord = true, kAnywhere = false;
constexpr bool kShowPrefix = true;

constexpr TokenShape kShapes[] = {
    // prefix, letters, at least, whole word
    {"sk-ant-", kToken, 20},                                // Anthropic
    {"sk-proj-", kToken, 20},                               // OpenAI
    {"sk-svcacct-", kToken, 20},                            //
    {"sk-admin-", kToken, 20},                              //
    {"sk-or-v1-", kToken, 20},                              // OpenRouter
    {"sk-", kAlnum, 20, kWholeWord},                        // OpenAI (old), DeepSeek and others
    {"gsk_", kAlnum, 40},                                   // Groq
    {"xai-", kAlnum, 60, kWholeWord},                       // xAI
    {"hf_", kAlnum, 30, kWholeWord},                        // Hugging Face
    {"AIza", kToken, 35},                                   // Google
    {"ya29.", kToken, 20},                                  //
    {"GOCSPX-", kToken, 20},                                //
    {"AKIA", kUpper, 16, kWholeWord},                       // AWS
    {"ASIA", kUpper, 16, kWholeWord},                       //
    {"ghp_", kAlnum, 30},                                   // GitHub
    {"gho_", kAlnum, 30},                                   //
    {"ghu_", kAlnum, 30},                                   //
    {"ghs_", kAlnum, 30},                                   //
    {"ghr_", kAlnum, 30},                                   //
    {"github_pat_", kWord, 36},                             //
    {"glpat-", kToken, 20},                                 // GitLab
    {"xoxb-", kToken, 15},                                  // Slack
    {"xoxp-", kToken, 15},                                  //
    {"xoxa-", kToken, 15},                                  //
    {"xoxs-", kToken, 15},                                  //
    {"xoxr-", kToken, 15},                                  //
    {"xoxe-", kToken, 15},                                  //
    {"xapp-", kToken, 15},                                  //
    {"sk_live_", kAlnum, 16},                               // Stripe
    {"sk_test_", kAlnum, 16},                               //
    {"rk_live_", kAlnum, 16, kWholeWord},                   //
    {"rk_test_", kAlnum, 16, kWholeWord},                   //
    {"whsec_", kAlnum, 24},                                 //
    {"npm_", kAlnum, 36, kWholeWord},                       // npm
    {"pypi-", kToken, 50, kWholeWord},                      // PyPI
    {"dckr_pat_", kToken, 20},                              // Docker
    {"dop_v1_", kAlnum, 40},                                // DigitalOcean
    {"shpat_", kAlnum, 32},                                 // Shopify
    {"lin_api_", kAlnum, 32},                               // Linear
    {"SG.", kDotted, 60, kWholeWord},                       // SendGrid
    {"AGE-SECRET-KEY-1", kUpper, 50},                       // age
    {"eyJ", kToken, 10, kWholeWord, !kShowPrefix, ".eyJ"},  // a JSON Web Token: header, payload, signature
    {"Bearer ", kBearer, 20, kAnywhere, kShowPrefix},
    {"bearer ", kBearer, 20, kAnywhere, kShowPrefix},
    {"BEARER ", kBearer, 20, kAnywhere, kShowPrefix},
    {"uthorization: Basic ", kBearer, 8, kAnywhere, kShowPrefix},
    {"uthorization: basic ", kBearer, 8, kAnywhere, kShowPrefix},
    {"-----BEGIN PRIVATE KEY-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-----BEGIN RSA PRIVATE KEY-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-----BEGIN DSA PRIVATE KEY-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-----BEGIN EC PRIVATE KEY-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-----BEGIN OPENSSH PRIVATE KEY-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-----BEGIN ENCRYPTED PRIVATE KEY-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-----BEGIN PGP PRIVATE KEY BLOCK-----", kPem, 40, kAnywhere, kShowPrefix},
    {"-CBC,", kPem, 80, kAnywhere, kShowPrefix},  // the body of an old PEM key follows "DEK-Info: AES-128-CBC,<hex>"
};

constexpr bool belongs(Letters kind, char c) {
  const bool upper = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  const bool alnum = upper || (c >= 'a' && c <= 'z');
  const bool token = alnum || c == '_' || c == '-';
  switch (kind) {
    case kUpper:
      return upper;
    case kAlnum:
      return alnum;
    case kWord:
      return alnum || c == '_';
    case kToken:
      return token;
    case kDotted:
      return token || c == '.';
    case kBearer:
      return token || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
    case kPem:  // not '-', which begins the END line
      return alnum || c == '+' || c == '/' || c == '=' || c == '\n' || c == '\r' || c == ' ' || c == '\t' || c == ':';
  }
  return false;
}

constexpr auto kKindsOfByte = [] {
  std::array<std::uint8_t, 256> kinds{};
  for (size_t byte = 0; byte < kinds.size(); ++byte) {
    for (size_t kind = 0; kind < kLetterKinds; ++kind) {
      if (belongs(Letters(kind), static_cast<char>(byte))) kinds[byte] |= static_cast<std::uint8_t>(1u << kind);
    }
  }
  return kinds;
}();

}  // namespace

bool is_one_of(Letters kind, char c) {
  return (kKindsOfByte[static_cast<unsigned char>(c)] >> static_cast<unsigned>(kind) & 1) != 0;
}

std::span<const TokenShape> token_shapes() {
  return kShapes;
}

}  // namespace ralph
