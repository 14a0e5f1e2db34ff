/* Splits a text into words. ASCII is read eight bytes at a time or by a table, other characters by
 * the Unicode tables of libunistring. */
#include "text/words.h"

#include "base/cpu.h"
#include <unicase.h>
#include <unictype.h>
#include <unistr.h>

/* The lower case of each ASCII byte that belongs to a word; 0 for separators and for bytes >=
 * 0x80. */
static const unsigned char ascii[256] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6',
    ['7'] = '7', ['8'] = '8', ['9'] = '9', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd',
    ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k',
    ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
    ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y',
    ['Z'] = 'z', ['_'] = '_', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e',
    ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l',
    ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r', ['s'] = 's',
    ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z'};

#define BEGINS_WORD (UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N)
#define CONTINUES_WORD (BEGINS_WORD | UC_CATEGORY_MASK_M)

/* A non-ASCII character of a text. */
struct character {
    size_t length; /* number of bytes in the text; 1 for an invalid UTF-8 byte */
    bool in_word;
    ucs4_t code;
};

/* Decodes the non-ASCII character at `at`. `categories`: the Unicode general categories that
 * belong to a word at this position. */
static struct character character_at(const unsigned char *at, const unsigned char *end,
                                     uint32_t categories) {
    ucs4_t code = 0;
    int length = 2;
    if (at[0] >= 0xc2 && at[0] < 0xe0 && end - at >= 2 && (at[1] & 0xc0) == 0x80) {
        code =
            /* fast path for two-byte characters, which include most alphabets */
            (ucs4_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
    } else {
        length = u8_mbtoucr(&code, at, (size_t)(end - at));
    }
    if (length <= 0) {
        return (struct character){.length = 1};
    }
    bool in_word = uc_is_general_category_withtable(code, categories);
    return (struct character){.length = (size_t)length, .in_word = in_word, .code = code};
}

/* Returns the start of the next word; the end of the text if there is none. */
static const unsigned char *skip_to_word(const unsigned char *at, const unsigned char *end) {
    while (at < end && ascii[*at] == 0) {
        if (*at < 0x80) {
            at++;
            continue;
        }
        struct character next = character_at(at, end, BEGINS_WORD);
        if (next.in_word) {
            break;
        }
        at += next.length;
    }
    return at;
}

/* Appends a non-ASCII character to the current word, which has *n bytes, unless the word is full.
 * Returns the next position; NULL if the character does not belong to a word. */
static const unsigned char *take_character(dn_words *words, const unsigned char *at,
                                           const unsigned char *end, size_t *n, bool *full) {
    struct character next = character_at(at, end, CONTINUES_WORD);
    if (!next.in_word) {
        return NULL;
    }
    ucs4_t code = words->keep_case ? next.code : uc_tolower(next.code);
    uint8_t bytes[6];
    int length = u8_uctomb(bytes, code, sizeof bytes);
    *full = *full || length <= 0 || *n + (size_t)length > DN_MAX_WORD_BYTES;
    for (int i = 0; !*full && i < length; i++) {
        words->word[(*n)++] = (char)bytes[i];
    }
    return at + next.length;
}

/* Converts eight bytes to a little-endian number and back. Compilers generate one instruction for
 * each. */
static inline uint64_t eight(const unsigned char *at) {
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
           (uint64_t)at[7] << 56;
}

static inline void put_eight(unsigned char *to, uint64_t bytes) {
    to[0] = (unsigned char)bytes;
    to[1] = (unsigned char)(bytes >> 8);
    to[2] = (unsigned char)(bytes >> 16);
    to[3] = (unsigned char)(bytes >> 24);
    to[4] = (unsigned char)(bytes >> 32);
    to[5] = (unsigned char)(bytes >> 40);
    to[6] = (unsigned char)(bytes >> 48);
    to[7] = (unsigned char)(bytes >> 56);
}

#define EACH(byte) ((byte)*UINT64_C(0x0101010101010101))

/* Returns a number with the high bit set in each byte whose value is in first … last. All bytes
 * must be below 0x80. */
static inline uint64_t within(uint64_t bytes, unsigned first, unsigned last) {
    return (bytes + EACH(0x80 - first)) & ~(bytes + EACH(0x7f - last)) & EACH(0x80);
}

/* Appends ASCII bytes to the current word, eight at a time, while eight bytes of text and of the
 * word buffer are left. Most words end in the first eight bytes. */
static const unsigned char *take_eights(dn_words *words, const unsigned char *at,
                                        const unsigned char *end, size_t *n) {
    while (end - at >= 8 && *n + 8 <= DN_MAX_WORD_BYTES) {
        uint64_t bytes = eight(at), low = bytes & EACH(0x7f), beyond = bytes & EACH(0x80);
        uint64_t capitals = within(low, 'A', 'Z') & ~beyond;
        uint64_t in_word =
            (within(low | EACH(0x20), 'a', 'z') | within(low, '0', '9') | within(low, '_', '_')) &
            ~beyond;
        uint64_t other = in_word ^ EACH(0x80), first = other & (~other + 1);
        size_t taken = other == 0 ? 8 : (63 - dni_leading_zeros(first)) / 8;
        bytes =
            words->keep_case ? bytes : bytes | capitals >> 2; /* adds 0x20 to upper-case letters */
        put_eight((unsigned char *)words->word + *n, bytes);
        *n += taken;
        at += taken;
        if (taken < 8) {
            break;
        }
    }
    return at;
}

/* Appends ASCII bytes to the current word, one at a time. Bytes beyond the maximum length of a
 * word are skipped. */
static const unsigned char *take_ascii(dn_words *words, const unsigned char *at,
                                       const unsigned char *end, size_t *n, bool *full) {
    if (!*full) {
        at = take_eights(words, at, end, n);
    }
    for (; at < end && ascii[*at] != 0; at++) {
        *full = *full || *n == DN_MAX_WORD_BYTES;
        if (!*full) {
            words->word[(*n)++] = (char)(words->keep_case ? *at : ascii[*at]);
        }
    }
    return at;
}

size_t dn_words_next(dn_words *words) {
    const unsigned char *end = (const unsigned char *)words->end;
    const unsigned char *at = skip_to_word((const unsigned char *)words->next, end);
    size_t n = 0;
    bool full = false;
    while (at < end) {
        at = take_ascii(words, at, end, &n, &full);
        if (at == end || *at < 0x80) {
            break;
        }
        const unsigned char *behind = take_character(words, at, end, &n, &full);
        if (behind == NULL) {
            break;
        }
        at = behind;
    }
    words->next = (const char *)at;
    return n;
}
