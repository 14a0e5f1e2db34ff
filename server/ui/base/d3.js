/* d3 (Debian's node-d3 5), as all modules of the page import it: the script defines a global. It
 * has the parts that are listed in D3_PARTS of the Makefile. */
import '../d3/d3.js';
import { marked } from './bidi.js';

export const d3 = self.d3;

/* Texts of plots: control characters are marked, as those of h() are. */
const { text } = d3.selection.prototype;
d3.selection.prototype.text = function markedText(...value) {
    const [given] = value;
    if (value.length === 0 || given === null || given === undefined) {
        return text.apply(this, value);
    }
    return text.call(this, typeof given === 'function'
        ? function of(...datum) {
            return marked(String(given.apply(this, datum) ?? ''));
        } : marked(String(given)));
};
