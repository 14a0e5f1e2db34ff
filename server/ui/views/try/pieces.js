/* Cuts a file into pieces at row ends, without holding more than a piece in memory. */
import { RowScanner } from '../../base/row_scanner.js';

const LONGEST_ROW = 64 * 1024 * 1024;
const NEWLINE = 10;

/* The number of line ends in bytes. */
export function countLines(bytes) {
    return bytes.reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0);
}

/* Returns the rows of bytes: [{from, to, line, lines, blank, comment, sharp, cells}], line from 1.
 * dialect: of RowScanner, with `cells`. */
export function rowsOf(bytes, dialect) {
    const scanner = new RowScanner(dialect);
    const rows = [];
    let from = 0;
    let line = 1;
    for (let i = 0; i < bytes.length; i++) {
        if (scanner.ends(bytes[i]) || i === bytes.length - 1) {
            const { blank, sharp, cells } = scanner;
            rows.push({
                from, to: i + 1, line, lines: Math.max(scanner.lines + 1 - line, 1), blank, sharp,
                cells, comment: scanner.isComment(dialect.cells),
            });
            from = i + 1;
            line = scanner.lines + 1;
        }
    }
    return rows;
}

/* Returns the place of the first row that is neither blank nor a comment: {from, to, cells, text},
 * or null. As the daemon: the first row that does not begin with # has as many cells as the table.
 * dialect: of RowScanner. */
export function firstRow(bytes, dialect) {
    const rows = rowsOf(bytes, { ...dialect, cells: 0 }).filter(({ blank, comment }) =>
        !blank && !comment);
    const plain = dialect.comment ? rows[0] : rows.find(({ sharp }) => !sharp) || rows[0];
    const row = rows.find(({ sharp, cells }) =>
        dialect.comment || !sharp || cells === plain.cells);
    return row ? {
        ...row, text: new TextDecoder().decode(bytes.subarray(row.from, row.to))
            .replace(/^\ufeff/, '').trim(),
    } : null;
}

/* The bytes of a file as UTF-8: unpacked (.gz), and decoded if they begin with the mark of UTF-16.
 * read(n) is called with the number of bytes of the file that were read. */
async function openStream(file, read) {
    let stream = file.stream().pipeThrough(new TransformStream({
        transform(chunk, controller) {
            read(chunk.length);
            controller.enqueue(chunk);
        },
    }));
    if (/\.gz$/i.test(file.name)) {
        return stream.pipeThrough(new DecompressionStream('gzip'));
    }
    const mark = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const encoding = mark[0] === 0xff && mark[1] === 0xfe ? 'utf-16le'
        : mark[0] === 0xfe && mark[1] === 0xff ? 'utf-16be' : null;
    if (encoding) {
        stream = stream.pipeThrough(new TextDecoderStream(encoding))
            .pipeThrough(new TextEncoderStream());
    }
    return stream;
}

/* Yields the pieces of a file: {bytes, line, rows}: line is the number of its first line, rows the
 * number of rows that are neither blank nor comments. A piece has at most `most` bytes, if its
 * first row is not longer.
 *
 *   dialect  of RowScanner, with `cells`: the number of columns, 0 if it is not known
 *   skip     bytes at the begin of the file that are left out: whole rows
 *   through  a TransformStream that makes the rows from the file; undefined: none */
export async function* piecesOf(file, { dialect, most, skip = 0, through, read, signal }) {
    let stream = await openStream(file, read);
    stream = through ? stream.pipeThrough(through) : stream;
    const reader = stream.getReader();
    const scanner = new RowScanner(dialect);
    let buffer = new Uint8Array(2 * most);
    let length = 0; /* bytes in the buffer */
    let scanned = 0;
    let cut = { at: 0, rows: 0, lines: 0 }; /* the last row end */
    let left = skip; /* bytes that are still to be left out */
    let line = 1;
    const isRow = () => !scanner.blank && !scanner.isComment(dialect.cells);
    const take = (at, rows, lines) => {
        const piece = { bytes: buffer.slice(0, at), line, rows };
        buffer.copyWithin(0, at, length);
        length -= at;
        scanned = Math.max(scanned - at, 0);
        line += lines;
        scanner.lines -= lines;
        cut = { at: 0, rows: 0, lines: 0 };
        return piece;
    };
    try {
        for (;;) {
            const part = await reader.read();
            signal?.throwIfAborted();
            if (part.done) {
                break;
            }
            const behind = part.value.subarray(left);
            line += countLines(part.value.subarray(0, left));
            left -= part.value.length - behind.length;
            while (length + behind.length > buffer.length) {
                if (buffer.length > LONGEST_ROW) {
                    throw new Error(`line ${line}: the row does not end within 64 MiB: a quote ` +
                        'may be open');
                }
                const larger = new Uint8Array(2 * buffer.length);
                larger.set(buffer.subarray(0, length));
                buffer = larger;
            }
            buffer.set(behind, length);
            length += behind.length;
            for (;;) {
                while (scanned < length && (scanned < most || cut.at === 0)) {
                    if (scanner.ends(buffer[scanned++])) {
                        const rows = cut.rows + (isRow() ? 1 : 0);
                        cut = { at: scanned, rows, lines: scanner.lines };
                    }
                }
                if (length < most || cut.at === 0) {
                    break;
                }
                yield take(cut.at, cut.rows, cut.lines);
            }
        }
        if (length > 0) {
            yield take(length, cut.rows + (cut.at < length && isRow() ? 1 : 0), 0);
        }
    } finally {
        await reader.cancel().catch(() => {});
    }
}
