/* Cuts a file into pieces at row ends, without holding more than a piece in memory. */
import { RowScanner } from '../../base/row_scanner.js';

const LONGEST_ROW = 64 * 1024 * 1024;
const BLANKS = new Set([9, 10, 13, 32]);

/* Whether a row has nothing but blanks: it is no row to the daemon. */
function isBlank(bytes, from, to) {
    while (from < to && BLANKS.has(bytes[from])) {
        from++;
    }
    return from === to;
}

/* Returns the rows of bytes: [{from, to, line, lines, blank}], line from 1. */
export function rowsOf(bytes, quotes) {
    const scanner = new RowScanner(quotes);
    const rows = [];
    let from = 0;
    let line = 1;
    for (let i = 0; i < bytes.length; i++) {
        if (scanner.ends(bytes[i]) || i === bytes.length - 1) {
            rows.push({
                from, to: i + 1, line, lines: Math.max(scanner.lines + 1 - line, 1),
                blank: isBlank(bytes, from, i + 1),
            });
            from = i + 1;
            line = scanner.lines + 1;
        }
    }
    return rows;
}

/* Returns the end of the first row that is neither blank nor a comment, and its text.
 * comment: a character or undefined. */
export function firstRow(bytes, quotes, comment) {
    const decoder = new TextDecoder();
    for (const { from, to } of rowsOf(bytes, quotes)) {
        const text = decoder.decode(bytes.subarray(from, to)).replace(/^\ufeff/, '').trim();
        if (text !== '' && !(comment && text.startsWith(comment))) {
            return { from, to, text };
        }
    }
    return null;
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
 * number of rows that are not blank. A piece has at most `most` bytes, if its first row is not
 * longer. */
export async function* piecesOf(file, { quotes, most, read, signal }) {
    const reader = (await openStream(file, read)).getReader();
    const scanner = new RowScanner(quotes);
    let buffer = new Uint8Array(2 * most);
    let length = 0; /* bytes in the buffer */
    let scanned = 0;
    let cut = { at: 0, rows: 0, lines: 0 }; /* the last row end */
    let line = 1;
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
            while (length + part.value.length > buffer.length) {
                if (buffer.length > LONGEST_ROW) {
                    throw new Error(`line ${line}: the row does not end within 64 MiB: a quote ` +
                        'may be open');
                }
                const larger = new Uint8Array(2 * buffer.length);
                larger.set(buffer.subarray(0, length));
                buffer = larger;
            }
            buffer.set(part.value, length);
            length += part.value.length;
            for (;;) {
                while (scanned < length && (scanned < most || cut.at === 0)) {
                    if (scanner.ends(buffer[scanned++])) {
                        const rows = cut.rows + (isBlank(buffer, cut.at, scanned) ? 0 : 1);
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
            yield take(length, cut.rows + (isBlank(buffer, cut.at, length) ? 0 : 1), 0);
        }
    } finally {
        await reader.cancel().catch(() => {});
    }
}
