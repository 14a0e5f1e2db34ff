/* Row ends of text in UTF-8, byte by byte, as the daemon reads separated text: a quote opens at the
 * begin of a cell only; within an unquoted cell it is an ordinary character. Lines that begin with
 * the comment character end at the line end, whatever they hold. */
const QUOTE = 34;
const NEWLINE = 10;
const RETURN = 13;
const SHARP = 35;
const BLANKS = new Set([32, 9]);
const DELIMITERS = ',;\t|';
const MARK = new Set([0xef, 0xbb, 0xbf]); /* the mark of UTF-8 at the begin of a file */

/*   quotes     false: every line is a row (TSV, NDJSON, svmlight, ARFF)
 *   delimiter  undefined: not known, any of the usual ones begins a cell
 *   comment    the character with which lines of comments begin; undefined: none was given
 *   indented   blanks may precede that character (svmlight, ARFF)
 *
 * cells, blank, comment and sharp describe the row whose end was found, until the next byte. */
export class RowScanner {
    constructor({ quotes = true, delimiter, comment, indented = false } = {}) {
        this.quotes = quotes;
        this.delimiters = new Set([...delimiter ?? DELIMITERS].map((c) => c.charCodeAt(0)));
        this.commentByte = comment ? comment.charCodeAt(0) : -1;
        this.indented = indented;
        this.quoted = false;
        this.closed = false; /* the byte before closed a quote */
        this.mark = true; /* no byte but those of the mark was seen */
        this.lines = 0; /* of all rows */
        this.begin();
    }

    /* Begins a row. */
    begin() {
        this.ended = false;
        this.start = true; /* at the begin of a cell */
        this.cells = 1;
        this.empty = true; /* the row has no byte so far */
        this.blank = true; /* the row has nothing but blanks */
        this.comment = false;
        this.sharp = false; /* the first byte that is no blank is # */
    }

    /* Returns whether the byte ends a row. Counts all lines. */
    ends(byte) {
        if (this.ended) {
            this.begin();
        }
        if (byte === NEWLINE) {
            this.lines++;
            this.ended = !this.quoted;
            return this.ended;
        }
        this.mark = this.mark && MARK.has(byte);
        if (this.blank && byte !== RETURN && !this.mark) {
            this.look(byte);
        }
        if (!this.comment) {
            this.step(byte);
        }
        return false;
    }

    /* Looks at a byte before which the row has nothing but blanks. */
    look(byte) {
        this.comment = byte === this.commentByte && (this.empty || this.indented);
        this.sharp = byte === SHARP;
        this.blank = BLANKS.has(byte) && !this.delimiters.has(byte);
        this.empty = false;
    }

    step(byte) {
        if (byte === QUOTE && this.quotes) {
            const closes = this.quoted;
            this.quoted = !closes && (this.start || this.closed);
            this.closed = closes;
            this.start = false;
            return;
        }
        this.closed = false;
        if (!this.quoted) {
            const divides = this.delimiters.has(byte);
            this.cells += divides ? 1 : 0;
            this.start = divides || this.mark || byte === RETURN ||
                (this.start && BLANKS.has(byte));
        }
    }

    /* Whether the row is a comment in a table of `cells` columns (0: not known): without a comment
     * character a row that begins with # is one if it has another number of cells. */
    isComment(cells) {
        return this.comment ||
            (this.commentByte < 0 && this.sharp && cells > 0 && this.cells !== cells);
    }
}
