#include "lib/certificates.h"

#include "lib/memory.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static void write_pem(const char *path, const gnutls_datum_t *pem, mode_t mode) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(chmod(path, mode), 0);
    assert_int_equal(fwrite(pem->data, 1, pem->size, f), pem->size);
    assert_int_equal(fclose(f), 0);
}

static gnutls_datum_t read_pem(const char *path) {
    size_t size;
    const char *content = read_whole(path, &size);
    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)content, .size = (unsigned)size};
}

static void set_use(gnutls_x509_crt_t crt, enum certificate_use use) {
    static const unsigned char loopback[] = {127, 0, 0, 1};
    if (use == CERTIFICATE_AUTHORITY) {
        assert_int_equal(gnutls_x509_crt_set_basic_constraints(crt, 1, -1), 0);
        assert_int_equal(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN), 0);
        return;
    }
    assert_int_equal(gnutls_x509_crt_set_basic_constraints(crt, 0, -1), 0);
    assert_int_equal(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE), 0);
    assert_int_equal(gnutls_x509_crt_set_key_purpose_oid(crt,
                                                         use == CERTIFICATE_SERVER
                                                             ? GNUTLS_KP_TLS_WWW_SERVER
                                                             : GNUTLS_KP_TLS_WWW_CLIENT,
                                                         0),
                     0);
    if (use == CERTIFICATE_SERVER) {
        assert_int_equal(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, "localhost",
                                                              9, GNUTLS_FSAN_APPEND),
                         0);
        assert_int_equal(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, loopback,
                                                              sizeof loopback, GNUTLS_FSAN_APPEND),
                         0);
    }
}

static void sign(const char *dir, const char *issuer, gnutls_x509_crt_t crt,
                 gnutls_x509_privkey_t key) {
    gnutls_x509_crt_t by = NULL;
    gnutls_x509_privkey_t by_key = NULL;
    if (issuer == NULL) {
        assert_int_equal(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0), 0);
        return;
    }
    const gnutls_datum_t pem = read_pem(text("%s/%s.pem", dir, issuer)),
                         key_pem = read_pem(text("%s/%s.key", dir, issuer));
    assert_int_equal(gnutls_x509_crt_init(&by), 0);
    assert_int_equal(gnutls_x509_privkey_init(&by_key), 0);
    assert_int_equal(gnutls_x509_crt_import(by, &pem, GNUTLS_X509_FMT_PEM), 0);
    assert_int_equal(gnutls_x509_privkey_import(by_key, &key_pem, GNUTLS_X509_FMT_PEM), 0);
    assert_int_equal(gnutls_x509_crt_sign2(crt, by, by_key, GNUTLS_DIG_SHA256, 0), 0);
    gnutls_x509_crt_deinit(by);
    gnutls_x509_privkey_deinit(by_key);
}

void certificate_make(const char *dir, const char *name, enum certificate_use use,
                      const char *common_name, const char *issuer, int days) {
    static unsigned count;
    const time_t now_s = time(NULL);
    const unsigned char serial[] = {1, (unsigned char)(count >> 8), (unsigned char)count};
    unsigned char id[20];
    size_t id_size = sizeof id;
    gnutls_x509_crt_t crt = NULL;
    gnutls_x509_privkey_t key = NULL;
    gnutls_datum_t pem, key_pem;
    count++;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                                  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                                  0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_set_version(crt, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(crt, serial, sizeof serial), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(crt, now_s - 100 * 86400), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(crt, now_s + days * 86400), 0);
    assert_int_equal(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, common_name,
                                                   (unsigned)strlen(common_name)),
                     0);
    assert_int_equal(gnutls_x509_crt_set_key(crt, key), 0);
    assert_int_equal(gnutls_x509_crt_get_key_id(crt, 0, id, &id_size), 0);
    assert_int_equal(gnutls_x509_crt_set_subject_key_id(crt, id, id_size), 0);
    set_use(crt, use);
    sign(dir, issuer, crt, key);
    assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem), 0);
    assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &key_pem), 0);
    write_pem(text("%s/%s.pem", dir, name), &pem, 0644);
    write_pem(text("%s/%s.key", dir, name), &key_pem, 0600);
    gnutls_free(pem.data);
    gnutls_free(key_pem.data);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
}
