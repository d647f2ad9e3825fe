/* The fork server for bots in C and C++. It is linked statically into the program with -Wl,--wrap=main.
 *
 * Started by starters.py, it forks a process for every move, before any of the program's own code has run. Started in any
 * other way it does nothing. The link script in languages/c.py checks that none of the program's code runs earlier, and
 * that no function called here is the program's; otherwise it links the program without this file.
 *
 * Moves arrive on descriptor 3 (arguments joined by NUL, one write for each move); the wait status of each move's
 * process is written to descriptor 4. BJSIM_PREFORKED children are forked ahead of time; they have seen no earlier move. */
#define _GNU_SOURCE
#include <features.h>
#ifndef __GLIBC__
#error "only glibc is known to run .preinit_array"
#endif
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUESTS = 3, STATUSES = 4, FRAME = 4096, WORDS = 64 };

static char frame[FRAME + 1];
static char *words[WORDS + 1];
static int count;

#ifdef __cplusplus
extern "C" {
#endif

int __real_main(int, char **, char **);

int __wrap_main(int argc, char **argv, char **envp)
{
    if (!count)
        return __real_main(argc, argv, envp);
    words[0] = argv[0];
    return __real_main(count, words, envp);
}

#ifdef __cplusplus
}
#endif

/* Wait for a move, and write this process's pid to `claims`. */
static void take_move(int claims)
{
    pid_t self = getpid();
    ssize_t size = read(REQUESTS, frame, FRAME);
    if (size <= 0 || write(claims, &self, sizeof self) < 0)
        _exit(0);
    close(claims);
    close(REQUESTS);
    count = 1;
    for (char *word = frame; word <= frame + size && count < WORDS; word += strlen(word) + 1)
        words[count++] = word;
}

static void serve(void)
{
    const char *setting = getenv("BJSIM_PREFORKED");
    if (!setting)
        return;
    int wanted = atoi(setting), children = 0, status = 0, claims[2];
    pid_t pid, claim;
    unsetenv("BJSIM_PREFORKED");
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (pipe2(claims, O_NONBLOCK) < 0)
        _exit(1);
    do {
        if (write(STATUSES, &status, sizeof status) < 0)
            _exit(1);
        for (; children < wanted; children++) {
            if ((pid = fork()) < 0)
                _exit(1);
            if (pid == 0) {
                close(STATUSES);
                close(claims[0]);
                take_move(claims[1]);
                return;
            }
        }
        children--;
        pid = waitpid(-1, &status, 0);
        /* If another child ended, the bot killed a pre-forked one; the runner treats the server's exit as a crash. */
    } while (pid > 0 && read(claims[0], &claim, sizeof claim) == sizeof claim && claim == pid);
    _exit(1);
}

/* Runs when the C library is ready, before all constructors. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = serve;
