/* The heap's free memory back to the system. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

/* After something large was freed in many pieces: malloc keeps their pages, thread by thread, because something small lives among them. Costs milliseconds. Any thread. */
void heap_give_back(void);

#endif
