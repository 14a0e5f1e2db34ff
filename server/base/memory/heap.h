/* Free memory of the heap: shared by all threads, and returned to the system. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

/* Makes all threads share two malloc arenas instead of one for each thread. Memory that one thread
 * frees can then be used by others: a table that is read by several threads of the pool in turn
 * needs the memory of one. To be called before the first thread is started. */
void heap_share(void);

/* Returns free memory to the system. To be called after something large was freed in many pieces,
 * which malloc would otherwise keep. Takes milliseconds. Any thread. */
void heap_give_back(void);

#endif
