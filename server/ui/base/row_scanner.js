/* Row ends of text in UTF-8, byte by byte. As the daemon reads separated text: a quote opens at the
 * begin of a cell only; within an unquoted cell it is an ordinary character. */
const QUOTE = 34;
const NEWLINE = 10;
const BLANK = 32;
const BEFORE_CELL = new Set([44, 59, 9, 124, 10, 13]); /* , ; tab | line ends */
const MARK = new Set([0xef, 0xbb, 0xbf]); /* the mark of UTF-8 at the begin of a file */

/* Finds row ends: line ends outside of quotes. */
export class RowScanner {
    /* quotes: false: every line is a row (TSV, NDJSON, svmlight). */
    constructor(quotes = true) {
        this.quotes = quotes;
        this.quoted = false;
        this.closed = false; /* the byte before closed a quote */
        this.start = true; /* at the begin of a cell */
        this.mark = true; /* no byte but those of the mark was seen */
        this.lines = 0;
    }

    /* Returns whether the byte ends a row. Counts all lines. */
    ends(byte) {
        if (byte === NEWLINE) {
            this.lines++;
        }
        if (!this.quotes) {
            return byte === NEWLINE;
        }
        if (byte === QUOTE) {
            const closes = this.quoted;
            this.quoted = !closes && (this.start || this.closed);
            this.closed = closes;
            this.start = false;
            return false;
        }
        this.closed = false;
        if (this.quoted) {
            return false;
        }
        this.mark = this.mark && MARK.has(byte);
        this.start = this.mark || BEFORE_CELL.has(byte) || (this.start && byte === BLANK);
        return byte === NEWLINE;
    }
}
