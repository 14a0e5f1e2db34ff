/* d3 (Debian's node-d3 5), as all modules of the page import it: the script defines a global. */
import '../d3/d3.js';

export const d3 = self.d3;
