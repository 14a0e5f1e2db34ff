/* The verdicts on slow connections, with made-up times and counters. */
#include "http/net/deadline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S INT64_C(1000000000)
static const struct deadline_limits LIMITS = {.header_ns = 10 * S,
                                              .idle_ns = 30 * S,
                                              .keep_alive_ns = 75 * S,
                                              .discard_ns = 30 * S,
                                              .minimum_rate = 64};

static struct deadline d;
static struct deadline_view v;

static void begin(enum phase phase, int64_t at) {
    v = (struct deadline_view){.epoch = v.epoch + 1, .phase = phase, .counted = true};
    assert_int_equal(deadline_check(&d, &v, &LIMITS, at), VERDICT_KEEP);
}

static void header_from_accept(void **state) {
    (void)state;
    v = (struct deadline_view){.epoch = 5, .phase = PHASE_HEADER, .counted = true};
    deadline_open(&d, 5, 100 * S);
    for (int64_t t = 101; t <= 110; t++) { /* one byte a second does not help */
        v.received++;
        assert_int_equal(deadline_check(&d, &v, &LIMITS, t * S), VERDICT_KEEP);
    }
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 110 * S + 1), VERDICT_TIMEOUT);
    v.received = 0; /* nothing at all came: closed without a word */
    deadline_open(&d, 5, 100 * S);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 111 * S), VERDICT_DROP);
}

static void between_requests(void **state) {
    (void)state;
    begin(PHASE_IDLE, 0);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 75 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 75 * S + 1), VERDICT_DROP);
    /* the first byte of the next request starts the header's time */
    begin(PHASE_IDLE, 0);
    v.received = 1;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 50 * S), VERDICT_KEEP);
    v.received = 8;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 60 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 60 * S + 1), VERDICT_TIMEOUT);
}

static void header_after_its_line(void **state) {
    (void)state;
    begin(PHASE_IDLE, 0);
    v.received = 1;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 5 * S), VERDICT_KEEP);
    v.epoch++;
    v.phase = PHASE_HEADER; /* the line is complete: its first byte still counts */
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 12 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 15 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 15 * S + 1), VERDICT_TIMEOUT);
    /* a request of which nothing was seen before begins now */
    begin(PHASE_IDLE, 100 * S);
    v.received = 20;
    v.epoch += 3;
    v.phase = PHASE_HEADER;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 120 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 130 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 130 * S + 1), VERDICT_TIMEOUT);
}

static void silent_body(void **state) {
    (void)state;
    begin(PHASE_BODY, 0);
    v.taken = 100000;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 5 * S), VERDICT_KEEP);
    v.received = 1000000; /* bytes that are no payload are no progress */
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 35 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 35 * S + 1), VERDICT_TIMEOUT);
}

/* bytes a second for five minutes: is it cut? */
static enum verdict at_rate(enum phase phase, uint64_t rate, bool counted) {
    begin(phase, 1000 * S);
    v.counted = counted;
    for (int64_t t = 1; t <= 300; t++) {
        *(phase == PHASE_BODY ? &v.taken : &v.sent) += rate;
        enum verdict verdict = deadline_check(&d, &v, &LIMITS, (1000 + t) * S);
        if (verdict != VERDICT_KEEP) {
            assert_in_range(t, 30, 31);
            return verdict;
        }
    }
    return VERDICT_KEEP;
}

static void slow(void **state) {
    (void)state;
    assert_int_equal(at_rate(PHASE_BODY, 1, true), VERDICT_TIMEOUT);
    assert_int_equal(at_rate(PHASE_BODY, 63, true), VERDICT_TIMEOUT);
    assert_int_equal(at_rate(PHASE_BODY, 64, true), VERDICT_KEEP);
    assert_int_equal(at_rate(PHASE_SEND, 1, true), VERDICT_DROP);
    assert_int_equal(at_rate(PHASE_SEND, 64, true), VERDICT_KEEP);
    assert_int_equal(at_rate(PHASE_SEND, 0, true), VERDICT_DROP);
    assert_int_equal(at_rate(PHASE_SEND, 1, false),
                     VERDICT_KEEP); /* no count of bytes: only that something moves */
    assert_int_equal(at_rate(PHASE_SEND, 0, false), VERDICT_DROP);
    assert_int_equal(at_rate(PHASE_WORK, 0, true), VERDICT_KEEP); /* it is our turn */
}

static void late_slowness(void **state) {
    (void)state;
    begin(PHASE_BODY, 0);
    v.taken = 1 << 30;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 29 * S), VERDICT_KEEP);
    for (int64_t t = 30; t < 62;
         t++) { /* what came fast before does not pay for what comes slowly now */
        v.taken++;
        enum verdict verdict = deadline_check(&d, &v, &LIMITS, t * S);
        if (t < 60) {
            assert_int_equal(verdict, VERDICT_KEEP);
        } else if (verdict == VERDICT_TIMEOUT) {
            return;
        }
    }
    fail();
}

static void discarding(void **state) {
    (void)state;
    begin(PHASE_DISCARD, 0);
    for (int64_t t = 1; t <= 30; t++) {
        v.taken += 1000000;
        assert_int_equal(deadline_check(&d, &v, &LIMITS, t * S), VERDICT_KEEP);
    }
    v.taken += 1000000;
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 30 * S + 1), VERDICT_ANSWER);
    begin(PHASE_CUT, 31 * S);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 36 * S), VERDICT_KEEP);
    assert_int_equal(deadline_check(&d, &v, &LIMITS, 36 * S + 1), VERDICT_DROP);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_from_accept),
        cmocka_unit_test(between_requests),
        cmocka_unit_test(header_after_its_line),
        cmocka_unit_test(silent_body),
        cmocka_unit_test(slow),
        cmocka_unit_test(late_slowness),
        cmocka_unit_test(discarding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
