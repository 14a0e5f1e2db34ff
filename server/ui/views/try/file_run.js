/* Predicts the rows of a file piece by piece. */
import { CallError, call } from '../../base/api.js';
import { whenUp } from '../../base/connection.js';
import { csvLine } from '../../base/save.js';
import { formatOf, hasData, kindOf } from './file_format.js';
import { JsonLines } from './json_lines.js';
import { countLines, firstRow, piecesOf, rowsOf } from './pieces.js';

const PIECE = 4 * 1000 * 1000; /* bytes */
const ROUNDS = 12; /* calls for a piece from which faulty rows are taken out */
const TRIES = 8; /* calls that are answered 429 or 503 */
const MOST_FAULTS = 1000; /* that are kept */
const MOST_KEPT = 256; /* columns that the API repeats */
const HEAD = 4 * 1024 * 1024; /* bytes of an answer in which its header ends */
const LONGEST_HEADER = 64 * 1024 * 1024; /* bytes of the header of ARFF */
/* the dialect of answers; a name may begin with #, which is no comment */
const ANSWER = { quotes: true, delimiter: ',' };

function joined(...parts) {
    const bytes = new Uint8Array(sum(parts.map((part) => part.length)));
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return bytes;
}

const sum = (values) => values.reduce((all, v) => all + v, 0);
const countRows = (rows) => rows.filter(({ blank, comment }) => !blank && !comment).length;

/* The columns of a model that rows of JSON name, but for those of many features. */
function namedColumns({ inputs = [] }) {
    return [...new Set(inputs.filter(({ type }) => type !== 'sparse')
        .map((input) => input.column || input.name))];
}

/* The columns that no row of a refused piece of JSON names; []: it is refused for other reasons. */
function absentColumns(error, columns) {
    const texts = (error.document?.errors || []).map(({ detail }) => detail || '');
    const absent = columns.filter((name) => texts.some((text) =>
        text.includes(`no instance names the column "${name}"`) ||
        text.includes(`"${name}" is missing from the instances`)));
    return absent.length === texts.length ? absent : [];
}

/* A run over a file. Results: parts (Blobs of the answer), rows, faults [{line, text}], nFaults.
 *
 * A row of JSON without a column has a missing value there. The daemon refuses a body in which no
 * row names the column: the run does that for the whole file, and not for its pieces. */
export class FileRun {
    /* where: path of predict; output: of the calls; repeat: whether the columns of the file are
     * repeated; onProgress is called after each piece and while the file is read; most: bytes of a
     * piece. */
    constructor({ file, where, model, output, repeat, signal, onProgress, most = PIECE }) {
        Object.assign(this, { file, where, model, output, repeat, signal, onProgress, most });
        Object.assign(this, { parts: [], rows: 0, faults: [], nFaults: 0, read: 0 });
        Object.assign(this, { pieces: 0, absent: new Map() });
    }

    async run() {
        const format = await this.begin();
        const { dialect, prefix, skip } = format;
        const pieces = piecesOf(this.file, {
            dialect, skip, signal: this.signal,
            most: Math.max(this.most - prefix.length, this.most / 4),
            through: format.kind === 'json' ? new TransformStream(new JsonLines()) : undefined,
            read: (n) => {
                this.read += n;
            },
        });
        let found = false;
        for await (const piece of pieces) {
            if (piece.rows > 0) {
                found = true;
                this.pieces++;
                await (this.answerType === 'text/csv' ? this.piece(piece, format)
                    : this.lines(piece, format));
                this.onProgress(this);
            }
        }
        if (!found) {
            throw new Error(skip > 0 ? 'The file has a header and no row below it: there is ' +
                'nothing to predict.' : 'The file has no rows.');
        }
        for (const { pieces, error } of this.absent.values()) {
            if (pieces === this.pieces) {
                throw error;
            }
        }
    }

    /* Returns the format of the file, by its begin. */
    async begin() {
        const start = piecesOf(this.file, {
            dialect: { quotes: true, cells: 0 }, most: PIECE / 4, read: () => {},
            signal: this.signal,
        });
        const parts = [];
        let size = 0;
        let kind = null;
        for await (const piece of start) {
            parts.push(piece.bytes);
            size += piece.bytes.length;
            kind = kind || kindOf(piece.bytes, this.file.name);
            if (kind !== 'arff' || hasData(piece.bytes)) {
                break;
            }
            if (size > LONGEST_HEADER) {
                throw new Error('The ARFF file has no line @data in its first 64 MiB.');
            }
        }
        const bytes = joined(...parts);
        if (bytes.length === 0) {
            throw new Error('The file is empty.');
        }
        const format = formatOf(bytes, this.file.name, this.model);
        this.answerType = format.kind === 'ndjson' || format.kind === 'json'
            ? 'application/x-ndjson' : 'text/csv';
        this.format = format;
        format.query.output = this.output;
        if (this.repeat && format.names.length > 0 && format.names.length <= MOST_KEPT) {
            format.query.keep = csvLine(format.names);
        }
        return format;
    }

    /* n: the number of faulty rows. */
    fault(line, text, n = 1) {
        this.nFaults += n;
        if (this.faults.length < MOST_FAULTS) {
            this.faults.push({ line, text });
        }
    }

    /* Predicts a piece of JSON, which is answered line by line. If no row of it names a column, it
     * gets a row before its first that names all, whose answer is dropped. */
    async lines({ bytes, line, rows }, format) {
        const columns = namedColumns(this.model);
        let response;
        let added = 0;
        try {
            response = await this.ask(new Blob([bytes]), format);
        } catch (error) {
            const absent = error.status === 422 ? absentColumns(error, columns) : [];
            if (absent.length === 0) {
                throw error;
            }
            for (const name of absent) {
                const before = this.absent.get(name) || { pieces: 0, error };
                this.absent.set(name, { ...before, pieces: before.pieces + 1 });
            }
            const all = Object.fromEntries(columns.map((name) => [name, null]));
            response = await this.ask(new Blob([`${JSON.stringify(all)}\n`, bytes]), format);
            added = 1;
        }
        let blob = await response.blob();
        if (added) {
            const text = await blob.text();
            blob = new Blob([text.slice(text.indexOf('\n') + 1)]);
        }
        this.rows += rows;
        this.parts.push(Number(response.headers.get('Discern-Refused') || 0) > 0
            ? this.shifted(await blob.text(), line - 1 - added) : blob);
    }

    /* Predicts a piece; rows with faults are taken out and reported. */
    async piece({ bytes, line, rows }, format) {
        const { prefix, dialect } = format;
        const headerLines = countLines(prefix);
        let kept = null; /* the rows that are left, once some were taken out */
        let body = joined(prefix, bytes);
        for (let round = 0; ; round++) {
            try {
                const response = await this.ask(new Blob([body]), format);
                await this.add(response);
                this.rows += kept ? countRows(kept) : rows;
                return;
            } catch (error) {
                const lines = (error.document?.errors || []).map((fault) => fault.line);
                if (!(error instanceof CallError) || error.status !== 422 ||
                    lines.length === 0 || lines.some((at) => !at)) {
                    throw error;
                }
                kept = kept || rowsOf(bytes, dialect);
                const left = this.without(kept, error.document.errors, headerLines, line);
                if (round >= ROUNDS || left.length === kept.length || countRows(left) === 0) {
                    this.giveUp(error, left, line, rows);
                    return;
                }
                kept = left;
                body = joined(prefix, ...kept.map(({ from, to }) => bytes.subarray(from, to)));
            }
        }
    }

    /* Reports the faults of an answer and returns the rows without them. The lines of the answer
     * count those of the body that was sent. */
    without(rows, faults, headerLines, line) {
        const bad = new Set();
        let at = headerLines + 1;
        const starts = rows.map((row) => {
            const start = at;
            at += row.lines;
            return start;
        });
        for (const fault of faults) {
            const i = starts.findIndex((start, k) =>
                fault.line >= start && fault.line < start + rows[k].lines);
            if (i >= 0 && !bad.has(i)) {
                bad.add(i);
                this.fault(line + rows[i].line - 1 + fault.line - starts[i],
                    fault.detail.replace(/^(line|instance) \d+(, column \d+)?[:,]? /, ''));
            }
        }
        return rows.filter((row, i) => !bad.has(i));
    }

    /* All rows of a piece are faulty, or too many to find each of them. */
    giveUp(error, left, line, rows) {
        if (this.parts.length === 0) {
            throw error;
        }
        const n = countRows(left);
        if (n > 0) {
            this.fault(line, `${n} of the ${rows} rows from this line on were left out: too ` +
                'many have faults', n);
        }
    }

    /* Adds an answer: further headers are left out. */
    async add(response) {
        let blob = await response.blob();
        if (this.parts.length > 0) {
            const head = new Uint8Array(await blob.slice(0, HEAD).arrayBuffer());
            blob = blob.slice(firstRow(head, ANSWER)?.to || 0);
        }
        this.parts.push(blob);
    }

    /* Returns an answer line by line with the numbers of the refused lines in the file. offset:
     * what is added to them. */
    shifted(text, offset) {
        const lines = text.split('\n').map((line) => {
            if (!line.startsWith('{"error"')) {
                return line;
            }
            const answer = JSON.parse(line);
            answer.error.line += offset;
            this.rows--;
            this.fault(answer.error.line, answer.error.detail.replace(/^line \d+: /, ''));
            return JSON.stringify(answer);
        });
        return new Blob([lines.join('\n')]);
    }

    /* Makes a call, again if the daemon is away or asks to wait. */
    async ask(body, format) {
        for (let tries = 1; ; tries++) {
            try {
                return await call('POST', this.where, {
                    query: format.query, type: format.type, accept: this.answerType, body,
                    signal: this.signal,
                });
            } catch (error) {
                const waits = error instanceof CallError && [0, 429, 503].includes(error.status);
                if (!waits || tries >= TRIES) {
                    throw error;
                }
                await whenUp();
                await new Promise((done) => setTimeout(done, 500 * tries));
                this.signal.throwIfAborted();
            }
        }
    }

    /* The call that predicts the whole file, for RequestCode. */
    request() {
        return {
            method: 'POST', path: this.where, query: this.format.query, type: this.format.whole,
            accept: this.answerType, file: this.file.name,
        };
    }

    blob() {
        return new Blob(this.parts, { type: this.answerType });
    }
}
