/* Bidirectional control characters in texts of users (names, labels, cells): they would change the
 * order of the text around them. The page shows them as marks in all that it draws: h() of
 * preact.js and .text() of d3.js apply this. Values of fields and bodies of calls keep them. */

/* Embeddings, overrides and isolates (Unicode Standard Annex 9, section 2). */
const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

/* Returns the text with a mark such as [U+202E] in place of each control character. */
export function marked(text) {
    return text.replace(CONTROLS, (c) =>
        `[U+${c.charCodeAt(0).toString(16).toUpperCase()}]`);
}
