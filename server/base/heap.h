/* The heap's free memory: shared by the threads, and given back to the system. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

/* Threads share two heaps instead of having one each: what one of them frees another finds, so that
 * a table that is read by each of the pool in turn takes the memory of one. Small things come from
 * caches of the threads anyway. Before the first thread. */
void heap_share(void);

/* After something large was freed in many pieces: malloc keeps their pages, thread by thread,
 * because something small lives among them. Costs milliseconds. Any thread. */
void heap_give_back(void);

#endif
