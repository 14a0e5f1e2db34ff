/* d3 (Debian's node-d3 5), as all modules of the page import it: the script defines a global. It
 * has the parts that are listed in D3_PARTS of the Makefile. */
import '../d3/d3.js';

export const d3 = self.d3;
