/* Certificates for tests, made with GnuTLS. */
#ifndef TESTS_LIB_CERTIFICATES_H
#define TESTS_LIB_CERTIFICATES_H

enum certificate_use { CERTIFICATE_AUTHORITY, CERTIFICATE_SERVER, CERTIFICATE_CLIENT };

/* Makes the files DIR/NAME.pem and DIR/NAME.key, of which the second has the mode 0600. issuer: the
 * NAME of the authority that signs it; NULL: the certificate itself. A server's is for localhost
 * and 127.0.0.1. days: end of the validity from now; negative: it has ended. Fails the test on an
 * error. */
void certificate_make(const char *dir, const char *name, enum certificate_use use,
                      const char *common_name, const char *issuer, int days);

#endif
