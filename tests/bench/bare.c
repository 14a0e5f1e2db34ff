/* The peer of P1 and P2: libmicrohttpd with nothing behind it. It takes a body, throws it away, and
 * answers a constant of the size of a prediction. bare PORT [I/O threads] */
#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char answer[] =
    "{\"model\":\"iris\",\"version\":1,\"classes\":[\"setosa\",\"versicolor\",\"virginica\"],"
    "\"predictions\":[{\"label\":\"setosa\",\"probabilities\":[0.98,0.02,0.0]}]}";

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **state) {
    static char seen; /* its address marks a request whose headers were seen */
    (void)url, (void)method, (void)version, (void)upload_data;
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_data_size > 0) {
        *upload_data_size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, cls);
}

int main(int argc, char **argv) {
    const long port = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    const long threads = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    if (port <= 0 || port > 65535 || threads < 1 || threads > 256) {
        fprintf(stderr, "bare PORT [I/O threads]\n");
        return 2;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof answer - 1, (void *)(size_t)answer,
                                        MHD_RESPMEM_PERSISTENT);
    if (response == NULL ||
        MHD_add_response_header(response, "Content-Type", "application/json") != MHD_YES) {
        return 1;
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD;
    struct MHD_Daemon *daemon =
        threads == 1
            ? MHD_start_daemon(flags, (uint16_t)port, NULL, NULL, handle, response, MHD_OPTION_END)
            : MHD_start_daemon(flags, (uint16_t)port, NULL, NULL, handle, response,
                               MHD_OPTION_THREAD_POOL_SIZE, (unsigned)threads, MHD_OPTION_END);
    if (daemon == NULL) {
        fprintf(stderr, "bare: cannot listen on port %ld: %s\n", port, strerror(errno));
        return 1;
    }
    int sig;
    sigwait(&set, &sig);
    MHD_stop_daemon(daemon);
    MHD_destroy_response(response);
    return 0;
}
