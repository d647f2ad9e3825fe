/* A warm C or C++ bot: this is linked into the program, statically, with -Wl,--wrap=main. Started by runner.py, before
 * anything of the program's own has run, it forks a fresh process for every move; started in any other way it does
 * nothing. That nothing runs earlier, and that no function called here is the program's, is what the script in
 * languages.py looks at; a program that fails there is linked without this file. Descriptor 3 gives the moves (arguments
 * joined by NUL, one write each), descriptor 4 takes how each process ended. BJSIM_SPARES processes stand ready ahead of
 * time; none has seen a move before it takes its own. */
#define _GNU_SOURCE
#include <features.h>
#ifndef __GLIBC__
#error "other C libraries do not run .preinit_array"
#endif
#include <fcntl.h>
#include <signal.h>
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

/* Wait for a move, and say on `took` that it is this process's. */
static void take_move(int took)
{
    pid_t self = getpid();
    ssize_t size = read(REQUESTS, frame, FRAME);
    if (size <= 0 || write(took, &self, sizeof self) < 0)
        _exit(0);
    close(took);
    close(REQUESTS);
    count = 1;
    for (char *word = frame; word <= frame + size && count < WORDS; word += strlen(word) + 1)
        words[count++] = word;
}

static void serve(void)
{
    const char *setting = getenv("BJSIM_SPARES");
    if (!setting)
        return;
    int spares = atoi(setting), waiting = 0, status = 0, takers[2];
    int boxed = getppid() == 1; /* then everything dies with the first process */
    pid_t pid, taker;
    unsetenv("BJSIM_SPARES");
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (pipe2(takers, O_NONBLOCK) < 0)
        _exit(1);
    do {
        if (write(STATUSES, &status, sizeof status) < 0)
            _exit(1);
        for (; waiting < spares; waiting++) {
            if ((pid = fork()) < 0)
                _exit(1);
            if (pid == 0) {
                if (!boxed)
                    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
                close(STATUSES);
                close(takers[0]);
                take_move(takers[1]);
                return;
            }
        }
        waiting--;
        pid = waitpid(-1, &status, 0);
        /* If another one ended, the bot has killed a spare; the runner takes the end of this server for a crash. */
    } while (pid > 0 && read(takers[0], &taker, sizeof taker) == sizeof taker && taker == pid);
    _exit(1);
}

/* Runs when the C library is ready, and before all constructors. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = serve;
