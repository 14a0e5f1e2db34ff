/* CRC-32 (ISO-HDLC: the polynomial of zlib, PNG and Ethernet). */
#ifndef DNI_CRC32_H
#define DNI_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of bytes that follow those whose checksum is `crc` (0 at the beginning). */
uint32_t dni_crc32(uint32_t crc, const void *bytes, size_t size);

#endif
