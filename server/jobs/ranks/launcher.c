#define _GNU_SOURCE /* close_range */
#include "jobs/ranks/launcher.h"

#include "base/log/log.h"
#include "base/process/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_FILES = 3, ORPHANS_MS = 5000, RETRY_MS = 100, NUMBER_SIZE = 24 };

struct launcher {
    int socket; /* to the process */
    pid_t process;
    atomic_bool reported; /* that the process has ended */
    char build[HASH_SHA256_TEXT];
};

/* Aligned room for the three files of the keeper, which are sent with a struct order. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(N_FILES * sizeof(int))];
};

/* ---- the keeper: one process for each command ---- */
static void on_child(int sig) {
    (void)sig; /* interrupts ppoll */
}

/* Replaces this process by the command, which the kernel kills if the keeper ends. */
static _Noreturn void become(const struct mpi_command *command, const char *database,
                             const struct order *order, const int files[N_FILES], pid_t keeper) {
    char job[NUMBER_SIZE], ranks[NUMBER_SIZE], memory[NUMBER_SIZE], threads[NUMBER_SIZE];
    char *argv[MPI_WORDS + 14];
    size_t n = 0;
    sigset_t none;
    (void)snprintf(job, sizeof job, "%" PRId64, order->job);
    (void)snprintf(ranks, sizeof ranks, "%" PRId64, order->ranks);
    (void)snprintf(memory, sizeof memory, "%" PRId64, order->memory_bytes);
    (void)snprintf(threads, sizeof threads, "%" PRId64, order->threads);
    for (size_t i = 0; i < command->n_words; i++) {
        argv[n++] = i == command->ranks_at ? ranks : command->words[i];
    }
    char *const more[] = {command->train,
                          "--database",
                          (char *)(uintptr_t)database,
                          "--job",
                          job,
                          "--ranks",
                          ranks,
                          "--most-memory",
                          memory,
                          "--most-threads",
                          threads,
                          "--handover"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        argv[n++] = more[i];
    }
    argv[n] = NULL;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != keeper) {
        _exit(EXIT_FAILURE); /* it has ended before the call */
    }
    (void)setpgid(0, 0);
    (void)dup2(files[1], STDOUT_FILENO);
    (void)dup2(files[2], STDERR_FILENO);
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        (void)signal(usual[i], SIG_DFL);
    }
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execvp(argv[0], argv);
    (void)fprintf(stderr, "discern-train: %s: %s\n", argv[0], strerror(errno));
    _exit(EXIT_FAILURE);
}

/* Waits for the command. When the caller has closed its end, asks the command to end, and ends it
 * after the grace time. Returns its status. */
static int keep(int control, pid_t command) {
    struct pollfd caller = {.fd = control, .events = POLLIN};
    int64_t kill_at = 0; /* monotonic clock in ns; 0: the command may run */
    int status = 0;
    sigset_t none;
    sigemptyset(&none);
    while (waitpid(command, &status, WNOHANG) == 0) {
        const int64_t now = clock_monotonic_ns(), left = kill_at - now;
        if (kill_at != 0 && left <= 0) {
            (void)kill(-command, SIGKILL);
            (void)waitpid(command, &status, 0);
            break;
        }
        const struct timespec pause = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        const int n = ppoll(&caller, kill_at == 0 ? 1 : 0, kill_at == 0 ? NULL : &pause, &none);
        if (n > 0) {
            (void)kill(-command, SIGTERM);
            kill_at = clock_monotonic_ns() + (int64_t)LAUNCHER_GRACE_MS * 1000000;
        }
    }
    return status;
}

/* Kills the processes whose numbers a file has. */
static void kill_listed(const char *path) {
    char text[4096];
    FILE *children = fopen(path, "re");
    const size_t n = children != NULL ? fread(text, 1, sizeof text - 1, children) : 0;
    char *at = text, *end = NULL;
    text[n] = '\0';
    for (long child = strtol(at, &end, 10); end != at && child > 0; child = strtol(at, &end, 10)) {
        /* a number that is cut off is not followed by a blank */
        if (*end != '\0') {
            (void)kill((pid_t)child, SIGKILL);
        }
        at = end;
    }
    if (children != NULL) {
        (void)fclose(children);
    }
}

/* Kills the processes that the command has left, which are children of this subreaper. */
static void kill_orphans(void) {
    const int64_t end = clock_monotonic_ns() + (int64_t)ORPHANS_MS * 1000000;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    while (waitpid(-1, NULL, WNOHANG) >= 0 && clock_monotonic_ns() < end) {
        kill_listed(path);
        (void)poll(NULL, 0, 1);
    }
}

static _Noreturn void keeper_main(const struct mpi_command *command, const char *database,
                                  const struct order *order, const int files[N_FILES]) {
    const struct sigaction action = {.sa_handler = on_child};
    sigset_t child;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, NULL);
    (void)sigaction(SIGCHLD, &action, NULL);
    const pid_t keeper = getpid(), pid = fork();
    if (pid == 0) {
        become(command, database, order, files, keeper);
    }
    if (pid > 0) {
        (void)setpgid(pid, pid);
        (void)close(files[1]);
        (void)close(files[2]);
        const int status = keep(files[0], pid);
        kill_orphans();
        (void)send(files[0], &status, sizeof status, MSG_NOSIGNAL);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the launcher ---- */
/* Takes the files of a message if they are N_FILES, and closes them otherwise. */
static void take_files(struct msghdr *message, bool wanted, int files[N_FILES]) {
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    int all[CMSG_SPACE(N_FILES * sizeof(int)) / sizeof(int)]; /* more than the room holds */
    if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
        return;
    }
    const size_t size = header->cmsg_len - CMSG_LEN(0), n = size / sizeof(int);
    memcpy(all, CMSG_DATA(header), size);
    if (wanted && n == N_FILES) {
        memcpy(files, all, N_FILES * sizeof(int));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        (void)close(all[i]);
    }
}

/* Receives an order. Returns false if the daemon has ended. *files: [0] -1 if the message is
 * none. */
static bool receive(int socket, struct order *order, int files[N_FILES]) {
    union control room;
    struct iovec part = {.iov_base = order, .iov_len = sizeof *order};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof room.bytes};
    const ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    files[0] = -1;
    if (n > 0) {
        take_files(&message, n == (ssize_t)sizeof *order, files);
    } else if (n < 0 && (errno == ENOMEM || errno == ENOBUFS || errno == EMFILE)) {
        (void)poll(NULL, 0, RETRY_MS);
        return true;
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

static _Noreturn void launcher_main(const struct mpi_command *command, const char *database,
                                    int socket) {
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    struct order order;
    int files[N_FILES];
    enum { OWN = STDERR_FILENO + 1 };
    const int above = fcntl(socket, F_DUPFD_CLOEXEC, OWN); /* the standard files are replaced */
    const int null = open("/dev/null", O_RDWR);
    (void)prctl(PR_SET_NAME, "discern-launch", 0, 0, 0);
    (void)setsid();
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        (void)signal(ignored[i], SIG_IGN); /* keepers are reaped by the kernel */
    }
    for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++) {
        (void)dup2(null, fd);
    }
    (void)dup3(above, OWN, O_CLOEXEC); /* fails if it is there already */
    (void)close_range(OWN + 1, ~0U, 0);
    while (receive(OWN, &order, files)) {
        if (files[0] < 0) {
            continue;
        }
        if (fork() == 0) {
            (void)close(OWN);
            keeper_main(command, database, &order, files);
        }
        for (size_t i = 0; i < N_FILES; i++) {
            (void)close(files[i]);
        }
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the daemon ---- */
bool launcher_start(const struct mpi_command *command, const char *database, struct launcher **out,
                    struct problem *problem) {
    int ends[2];
    struct launcher *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return problem_no_memory(problem);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        (l->process = fork()) < 0) {
        free(l);
        return problem_set(problem, PROBLEM_INTERNAL, "--mpi: cannot start a process: %s",
                           strerror(errno));
    }
    if (l->process == 0) {
        launcher_main(command, database, ends[1]);
    }
    (void)close(ends[1]);
    l->socket = ends[0];
    memcpy(l->build, command->build, sizeof l->build);
    *out = l;
    return true;
}

void launcher_stop(struct launcher *l) {
    if (l != NULL) {
        (void)close(l->socket);
        (void)waitpid(l->process, NULL, 0);
        free(l);
    }
}

static bool send_order(const struct launcher *l, const struct order *order,
                       const int files[N_FILES]) {
    union control room = {.bytes = {0}};
    struct order copy = *order;
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof copy};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof room.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(N_FILES * sizeof(int));
    memcpy(CMSG_DATA(header), files, N_FILES * sizeof(int));
    return sendmsg(l->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy;
}

static void close_pair(const int pair[2]) {
    for (size_t i = 0; i < 2; i++) {
        if (pair[i] >= 0) {
            (void)close(pair[i]);
        }
    }
}

const char *launcher_build(const struct launcher *l) {
    return l->build;
}

bool launcher_ended(struct launcher *l) {
    struct pollfd process = {.fd = l->socket};
    const bool ended = poll(&process, 1, 0) == 1 && process.revents != 0;
    if (ended && !atomic_exchange(&l->reported, true)) {
        log_error("ranks.launcher",
                  log_str("detail", "the process that starts the command of --mpi has ended: jobs "
                                    "are trained without ranks until the next start"));
    }
    return ended;
}

bool launcher_run(struct launcher *l, const struct order *order, struct launched *out,
                  struct problem *problem) {
    int control[2] = {-1, -1}, output[2] = {-1, -1}, errors[2] = {-1, -1};
    const bool good = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0 &&
                      pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0 &&
                      send_order(l, order, (const int[N_FILES]){control[1], output[1], errors[1]});
    if (!good) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "the command of --mpi cannot be started: %s",
                    errno == EPIPE || errno == ECONNRESET ? "the process that starts it has ended"
                                                          : strerror(errno));
        close_pair(control);
        close_pair(output);
        close_pair(errors);
        return false;
    }
    (void)close(control[1]);
    (void)close(output[1]);
    (void)close(errors[1]);
    *out = (struct launched){.control = control[0], .output = output[0], .errors = errors[0]};
    return true;
}

void launched_end(const struct launched *run) {
    (void)shutdown(run->control, SHUT_WR);
}

enum launched_state launched_wait(const struct launched *run, int timeout_ms, int *status) {
    struct pollfd keeper = {.fd = run->control, .events = POLLIN};
    if (poll(&keeper, 1, timeout_ms) != 1) {
        return LAUNCHED_RUNS;
    }
    return recv(run->control, status, sizeof *status, 0) == (ssize_t)sizeof *status ? LAUNCHED_ENDED
                                                                                    : LAUNCHED_LOST;
}
