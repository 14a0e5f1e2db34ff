/* A table that is about to be added: its source, its settings, its preview and its upload. It is
 * kept while other views are shown, and so an upload goes on. */
import { CallError, get, path, post, upload } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { plural } from '../../base/format.js';
import { go, place } from '../../base/place.js';
import { Signal } from '../../base/signal.js';
import { announce } from '../../parts/status.js';
import { linesOf, sampleOf } from './sample.js';
import {
    DEFAULTS, listed, nameFault, nameFrom, queryOf, structureOf, typesText,
} from './settings.js';

const SHOWN_ROWS = 20;
const TYPING = 350; /* ms without a change before a preview is asked for */
const LONGEST_LIST = 4000; /* characters of a list in a query */
const SPEED_SPAN = 4000; /* ms over which the speed is measured */

const isAbort = (error) => error.name === 'AbortError';

/*   target    name of the dataset that gets the rows; null: chosen by the user (name, mode)
 *   source    of sample.js; null: nothing was chosen
 *   mode      'new', 'version' or 'append'
 *   known     {name, version, columns} of the dataset that has this name; null: there is none;
 *             undefined: not yet asked
 *   preview   the answer to datasets:preview; null: there is none
 *   error     of the preview; refused: of the upload
 *   placed    appended rows have no names: their columns are those of the dataset, in its order
 *   faults    [{line, column, detail}] that lead to a refusal; lines: map of their texts
 *   sending   {sent, total, speed} of an upload; null: none
 */
class Draft {
    constructor(target) {
        this.changes = new Signal();
        this.target = target;
        this.clear();
    }

    clear() {
        this.abort?.abort();
        this.cancelUpload?.abort();
        clearTimeout(this.timer);
        Object.assign(this, {
            source: null, sample: null, settings: { ...DEFAULTS, types: {} }, preview: null,
            error: null, refused: null, faults: [], lines: new Map(), busy: false,
            name: this.target || '', mode: this.target ? 'append' : 'new', known: undefined,
            sending: null, allowTypes: false, structure: '', placed: false,
        });
        this.changes.emit();
    }

    update(changes) {
        Object.assign(this, changes);
        this.changes.emit();
    }

    /* ---- source and settings ---- */

    /* The settings stay, so that a mended file is read as the one before. */
    take(source) {
        this.update({
            source, sample: null, preview: null, error: null, refused: null, faults: [],
        });
        if (!this.target && this.name === '') {
            this.setName(nameFrom(source.name));
        }
        void this.askAndRefresh();
    }

    /* Appended rows are read as the columns of the dataset demand. */
    async askAndRefresh() {
        const asked = this.ask();
        if (this.mode === 'append') {
            this.update({ busy: true });
            await asked;
        }
        await this.refresh();
    }

    set(settings, wait = 0) {
        this.update({ settings: { ...this.settings, ...settings }, refused: null });
        if (['encoding', 'delimiter', 'comment'].some((name) => name in settings)) {
            this.sample = null; /* it is cut at other places */
        }
        clearTimeout(this.timer);
        this.abort?.abort();
        this.timer = setTimeout(() => this.refresh(), wait);
    }

    type(settings) {
        this.set(settings, TYPING);
    }

    setMode(mode) {
        this.update({ mode, refused: null });
        void this.askAndRefresh();
    }

    setName(name) {
        const appended = this.mode === 'append';
        this.update({ name, mode: 'new', known: undefined, refused: null });
        if (appended) {
            void this.refresh(); /* with types of its own */
        }
        clearTimeout(this.nameTimer);
        this.nameTimer = setTimeout(() => this.ask(), TYPING);
    }

    /* Asks whether the name exists, and for the columns if rows are appended. */
    async ask() {
        const { name } = this;
        if (nameFault(name)) {
            return;
        }
        try {
            const known = await this.lookUp(name);
            if (name === this.name) {
                const mode = known ? this.mode : 'new';
                this.update({ known, mode: this.target ? 'append' : mode });
            }
        } catch {
            /* the upload finds out */
        }
    }

    /* Returns the dataset of this name; null: there is none. */
    async lookUp(name) {
        try {
            return await get(path`/v1/datasets/${name}`);
        } catch (error) {
            if (error.status === 404) {
                return null;
            }
            throw error;
        }
    }

    /* ---- preview ---- */

    async refresh() {
        clearTimeout(this.timer);
        this.abort?.abort();
        if (!this.source || this.source.foreign) {
            return;
        }
        const abort = new AbortController();
        this.abort = abort;
        this.update({ busy: true });
        let result;
        try {
            const preview = await this.readSample(abort.signal);
            const { skipped } = preview.notes;
            const faults = skipped && this.settings.on_error === 'reject' ? skipped.first : [];
            result = { preview, error: null, faults };
        } catch (error) {
            if (isAbort(error)) {
                return;
            }
            const errors = (error.document?.errors || []).filter((e) => e.line);
            result = { error: this.readable(error), faults: errors };
        }
        if (this.abort === abort && !abort.signal.aborted) {
            this.update({ ...result, busy: false });
            void this.findLines(abort.signal);
        }
    }

    /* Cuts a sample and asks for its preview. The sample is cut again if the preview finds another
     * delimiter than it was cut with and the row ends are then other ones. */
    async readSample(signal) {
        const { settings, source } = this;
        const cut = async (delimiter) => {
            const sample = await sampleOf(source, settings.encoding,
                dialectOf(delimiter, settings.comment));
            signal.throwIfAborted();
            return sample;
        };
        const given = settings.delimiter;
        this.sample = this.sample || await cut(given);
        const preview = await this.read(signal);
        const found = preview.notes.delimiter;
        if (this.sample.whole || given !== 'auto' || !found || this.sample.delimiter === found) {
            return preview;
        }
        const before = this.sample.bytes;
        this.sample = { ...await cut(found), delimiter: found };
        return this.sample.bytes === before ? preview : this.read(signal);
    }

    /* A file that was changed or deleted after it was chosen cannot be read. */
    readable(error) {
        return error instanceof CallError ? error
            : new Error(`“${this.source.name}” cannot be read (${error.message}). If it was ` +
                'changed since you chose it, choose it again: the settings stay.');
    }

    call(options, signal) {
        const { settings, sample } = this;
        const query = queryOf({
            ...settings, types: {}, ...options,
            on_error: settings.on_error === 'repair' ? 'repair' : 'skip',
        });
        return post('/v1/datasets:preview', sample.body, {
            query: { ...query, rows: SHOWN_ROWS }, type: 'application/octet-stream', signal,
        });
    }

    /* Asks for a preview. Types of columns that the table has no longer are forgotten. */
    async read(signal) {
        const { settings } = this;
        let { types } = settings;
        if (this.mode === 'append') {
            return this.readAppended(signal);
        }
        const structure = structureOf(settings);
        if (this.structure !== structure && Object.keys(types).length) {
            const { columns } = await this.call({}, signal);
            const names = new Set(columns.map((column) => column.name));
            types = Object.fromEntries(Object.entries(types).filter(([name]) => names.has(name)));
            this.settings = { ...this.settings, types };
        }
        const answer = await this.call({ types }, signal);
        this.structure = structure;
        return answer;
    }

    /* Appended rows are read with the names and types of the dataset, so that cells that do not fit
     * are faults. */
    async readAppended(signal) {
        const known = this.known?.columns || [];
        const answer = await this.call({}, signal);
        const names = known.map((column) => listed(column.name)).join(',');
        this.placed = areData(answer, known);
        const placed = !this.placed ? {}
            : { header: 'false', names: names.length <= LONGEST_LIST ? names : '' };
        const columns = placed.names
            ? answer.columns.map((column, i) => ({ ...column, name: known[i].name }))
            : answer.columns;
        const types = this.allowTypes ? {} : typesToKeep(columns, this.known);
        return this.placed || Object.keys(types).length ? this.call({ ...placed, types }, signal)
            : answer;
    }

    /* Finds the lines of faults, also far down in a large file. */
    async findLines(signal) {
        const wanted = new Set();
        for (const { line } of [...this.faults, ...this.noted()]) {
            [line - 1, line, line + 1].filter((n) => n > 0).forEach((n) => wanted.add(n));
        }
        if (wanted.size === 0) {
            return;
        }
        try {
            const lines = await linesOf(this.source, wanted, this.settings.encoding, signal);
            if (!signal?.aborted) {
                this.update({ lines });
            }
        } catch {
            /* the messages are shown without their lines */
        }
    }

    /* Rows that were left out or repaired, as the settings demand. */
    noted() {
        const { skipped, repairs } = this.preview?.notes || {};
        const left = this.settings.on_error === 'skip' && skipped ? skipped.first : [];
        return [...left, ...Object.values(repairs || {}).flatMap((repair) => repair.first)];
    }

    /* ---- upload ---- */

    /* The request of the upload: {method, path, query, headers}. */
    request() {
        const { name, mode, settings, source } = this;
        const append = mode === 'append';
        const headers = source.gzip ? { 'Content-Encoding': 'gzip' } : {};
        if (mode === 'new') {
            headers['If-None-Match'] = '*';
        }
        const query = queryOf(settings, append);
        if (append && this.placed) {
            query.header = 'false';
        }
        if (append && this.allowTypes) {
            query.allow_type_change = 'true';
        }
        const where = append ? path`/v1/datasets/${name}/rows` : path`/v1/datasets/${name}`;
        return { method: append ? 'POST' : 'PUT', path: where, query, headers };
    }

    async send() {
        const { method, path: where, query, headers } = this.request();
        const abort = new AbortController();
        this.cancelUpload = abort;
        const marks = [];
        this.update({ refused: null, sending: { sent: 0, total: this.source.size, speed: null } });
        const progress = (sent, total) => {
            const now = performance.now();
            marks.push([now, sent]);
            while (marks.length > 2 && now - marks[0][0] > SPEED_SPAN) {
                marks.shift();
            }
            const [[from, before]] = marks;
            const speed = now > from ? (sent - before) / (now - from) * 1000 : null;
            this.update({ sending: { sent, total, speed } });
        };
        try {
            const answer = await upload(method, where, this.source.blob,
                { query, headers, type: 'application/octet-stream', signal: abort.signal },
                progress);
            this.stored(answer);
        } catch (error) {
            this.update({ sending: null });
            if (isAbort(error)) {
                announce('The upload was cancelled: nothing was stored');
                return;
            }
            const errors = (error.document?.errors || []).filter((e) => e.line);
            this.update({ refused: this.readable(error), faults: errors });
            void this.findLines();
            if (error.status === 412) {
                void this.ask();
            }
        }
    }

    stored(answer) {
        const { json } = answer;
        const before = this.preview?.columns || [];
        const same = answer.header('Discern-Unchanged') === 'true';
        const here = place().path;
        const text = same ? `${json.name} has this content already: version ${json.version}`
            : this.mode === 'append' && json.notes.append
                ? `${plural(json.notes.append.rows, 'row')} added to ${json.name}: ${
                    plural(json.rows, 'row')}`
                : `${json.name}, version ${json.version}: ${plural(json.rows, 'row')} stored`;
        const atHome = here[0] === 'data' && (here[1] || null) === this.target;
        const differences = this.mode === 'append' ? []
            : json.columns.filter((column) => before.some((other) => other.name === column.name &&
                other.type !== column.type && column.type_reason));
        const { source, settings } = this;
        last = { name: json.name, version: json.version, differences, source, settings };
        this.clear();
        changed('datasets');
        announce(text, atHome ? undefined
            : { label: 'Open', run: () => go(['data', json.name]) });
        if (atHome) {
            go(['data', json.name]);
        }
    }
}

const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|', space: ' \t' };

/* How the rows of separated text end. A cell of TSV ends on its line. */
function dialectOf(setting, comment) {
    const delimiter = setting === 'auto' ? undefined : DELIMITERS[setting] || setting;
    return { quotes: delimiter !== '\t', delimiter, comment: comment || undefined };
}

/* Whether appended rows begin without a line of names: none of the names found is one of the
 * dataset, and there are as many columns. */
function areData({ columns, notes, sparse }, known) {
    const names = new Set(known.map((column) => column.name));
    const n = columns.filter((column) => names.has(column.name)).length;
    return !sparse && notes.header !== undefined && columns.length === known.length &&
        n * 2 < columns.length;
}

/* The types that the appended cells must have: those of the dataset; if that would be too long,
 * only those that the rows alone would not give. */
function typesToKeep(columns, { columns: known = [], notes } = {}) {
    const wanted = new Map(known.filter(({ type }) => type !== 'sparse' && type !== 'datetime')
        .map(({ name, type }) => [name, type]));
    Object.entries(notes?.types || {}).forEach(([name, type]) => wanted.set(name, type));
    const chosen = columns.filter(({ name }) => wanted.has(name));
    const pick = (list) => Object.fromEntries(list.map(({ name }) => [name, wanted.get(name)]));
    const all = pick(chosen);
    return typesText(all).length <= LONGEST_LIST ? all
        : pick(chosen.filter(({ name, type }) => wanted.get(name) !== type));
}

/* The last stored dataset: {name, version, differences, source, settings}; differences: its columns
 * whose type is not that of the preview, because later rows changed it. */
let last = null;
export const lastStored = () => last;

/* Makes a draft of the last stored dataset again: a new version of it, in which the cells that
 * changed types are missing values. */
export function mendLast() {
    const { name, differences, source, settings } = last;
    const cells = differences.map((column) => listed(column.type_reason.cell));
    const missing = [...new Set([...settings.missing.split(','), ...cells])].filter(Boolean);
    const draft = draftOf(null);
    draft.clear();
    draft.update({ name, mode: 'version', settings: { ...settings, missing: missing.join(',') } });
    draft.take(source);
    go(['data']);
}

const drafts = new Map();

/* The draft of a target (null: a table with a name of its own). */
export function draftOf(target) {
    if (!drafts.has(target)) {
        drafts.set(target, new Draft(target));
    }
    return drafts.get(target);
}

self.addEventListener('beforeunload', (event) => {
    if ([...drafts.values()].some((draft) => draft.sending)) {
        event.preventDefault();
    }
});
