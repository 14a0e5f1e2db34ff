/* CRC-32 (ISO-HDLC: the polynomial of zlib, PNG and Ethernet). */
#ifndef DNI_CRC32_H
#define DNI_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC-32 of a message: `crc` is the checksum of its first part (0 if empty), `bytes`
 * is the rest. */
uint32_t dni_crc32(uint32_t crc, const void *bytes, size_t size);

#endif
