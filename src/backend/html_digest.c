/* html_digest.c: SHA-256 (FIPS 180-4) and base64 (RFC 4648), for the content security policy. Computed when
 * a page is written, so that the digest can never disagree with the style it stands for. */
#include "backend/html_digest.h"

#include <stdint.h>
#include <string.h>

/* FIPS 180-4, section 4.2.2: the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

/* Section 6.2.2, step 3, for the letters where they are: a round moves no word, the next one calls them
 * otherwise. */
static inline void digest_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                                uint32_t g, uint32_t *h, uint32_t input)
{
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t choice = (e & f) ^ (~e & g);
    uint32_t t1 = *h + s1 + choice + input;
    uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    *d += t1;
    *h = t1 + s0 + majority;
}

/* The rest of section 6.2.2, for one block of 64 bytes. */
static void digest_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    for (int t = 0; t < 64; t++)
        w[t] += round_constants[t];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t += 8) {
        digest_round(a, b, c, &d, e, f, g, &h, w[t]);
        digest_round(h, a, b, &c, d, e, f, &g, w[t + 1]);
        digest_round(g, h, a, &b, c, d, e, &f, w[t + 2]);
        digest_round(f, g, h, &a, b, c, d, &e, w[t + 3]);
        digest_round(e, f, g, &h, a, b, c, &d, w[t + 4]);
        digest_round(d, e, f, &g, h, a, b, &c, w[t + 5]);
        digest_round(c, d, e, &f, g, h, a, &b, w[t + 6]);
        digest_round(b, c, d, &e, f, g, h, &a, w[t + 7]);
    }
    const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += sums[i];
}

static void base64(char out[HTML_DIGEST_TEXT], const unsigned char digest[32])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char padded[33] = {0};
    memcpy(padded, digest, 32);
    for (int i = 0; i < 11; i++) {
        const unsigned char *at = padded + 3 * i;
        uint32_t bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = digits[bits >> (18 - 6 * j) & 63];
    }
    out[43] = '='; /* 32 bytes are ten groups of three and two over */
    out[44] = '\0';
}

const char *html_digest(char out[HTML_DIGEST_TEXT], const char *bytes, size_t length)
{
    /* Section 5.3.3: the fractional parts of the square roots of the first eight primes. */
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = (const unsigned char *)bytes;
    size_t left = length;
    for (; left >= 64; left -= 64, at += 64)
        digest_block(state, at);
    unsigned char last[128] = {0}; /* section 5.1.1: a one bit, zeros, the length in bits */
    memcpy(last, at, left);
    last[left] = 0x80;
    size_t blocks = left < 56 ? 1 : 2;
    uint64_t bits = (uint64_t)length * 8;
    for (size_t i = 0; i < 8; i++)
        last[blocks * 64 - 1 - i] = (unsigned char)(bits >> 8 * i);
    for (size_t i = 0; i < blocks; i++)
        digest_block(state, last + 64 * i);
    unsigned char digest[32];
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
    base64(out, digest);
    return out;
}
