/* Calls of the API. Paths begin with "/v1/…" and are relative to the base path of the daemon. */
import { base, reportLost, whenUp } from './connection.js';
import { token, tokenNeeded } from './session.js';

/* A call that was refused or got no answer. status 0: no answer. `document`: the problem document
 * (RFC 9457), {} if there is none. */
export class CallError extends Error {
    constructor(status, document, call) {
        super(document.detail || document.title || `the answer was ${status}`);
        this.status = status;
        this.document = document;
        this.call = call; /* "GET /v1/…" */
    }
}

/* Returns a path with the parts escaped: path`/v1/models/${name}`. */
export function path(strings, ...parts) {
    return strings.reduce((all, s, i) => all + encodeURIComponent(parts[i - 1]) + s);
}

/* Returns the URL of a call. query: values of undefined, null and '' are left out. */
export function url(where, query = {}) {
    const result = new URL(where.replace(/^\//, ''), base);
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== null && value !== '') {
            result.searchParams.set(name, value);
        }
    }
    return result;
}

/* ---- the clock of the server ---- */

const CLOCK_STEP = 2000; /* ms by which the Date header must differ: it has whole seconds */
let clockOffset = 0; /* ms that the server is before the clock of the browser */

/* Returns the time of the server, about, in ms since 1970. */
export function serverTime() {
    return Date.now() + clockOffset;
}

function readClock(headers) {
    const difference = Date.parse(headers.get('Date')) + 500 - Date.now();
    if (Math.abs(difference - clockOffset) > CLOCK_STEP) {
        clockOffset = difference;
    }
}

/* ---- calls ---- */

function headersOf(options) {
    const headers = { Accept: 'application/json', ...options.headers };
    if (options.accept) {
        headers.Accept = options.accept;
    }
    if (options.type) {
        headers['Content-Type'] = options.type;
    }
    if (token()) {
        headers.Authorization = `Bearer ${token()}`;
    }
    return headers;
}

/* What a proxy answers when it does not reach the daemon, and when the answer takes too long. */
const BAD_GATEWAY = 502;
const GATEWAY_TIMEOUT = 504;

/* To be called when a call got no answer. Returns its error. */
function noAnswer(call) {
    void reportLost();
    return new CallError(0, { title: 'No answer', detail: 'the daemon does not answer' }, call);
}

/* The error of a refused response. */
function refusal(status, text, call) {
    if (status === BAD_GATEWAY) {
        return noAnswer(call);
    }
    let document = {};
    try {
        document = JSON.parse(text);
    } catch {
        document = { detail: status === GATEWAY_TIMEOUT
            ? 'the proxy has ended the wait for the answer: the call takes longer than it permits'
            : text.slice(0, 300) };
    }
    const error = new CallError(status, document, call);
    if (status === 401) {
        tokenNeeded.emit(error);
    }
    return error;
}

/* Makes a call and returns the Response. Throws CallError, or AbortError after signal.
 *
 *   options  query, body (an object is sent as JSON; a string or Blob as it is), type, accept,
 *            headers, signal
 */
export async function call(method, where, options = {}) {
    const name = `${method} ${where}`;
    const isObject = options.body !== undefined && typeof options.body === 'object' &&
        !(options.body instanceof Blob);
    let response;
    try {
        response = await fetch(url(where, options.query), {
            method,
            headers: headersOf(isObject ? { type: 'application/json', ...options } : options),
            body: isObject ? JSON.stringify(options.body) : options.body,
            signal: options.signal,
        });
    } catch (error) {
        if (error.name === 'AbortError') {
            throw error;
        }
        throw noAnswer(name);
    }
    readClock(response.headers);
    if (!response.ok) {
        throw refusal(response.status, await response.text(), name);
    }
    return response;
}

/* Makes a call and returns its JSON; null: the answer has no body. */
export async function json(method, where, options) {
    const response = await call(method, where, options);
    try {
        const text = await response.text();
        return text === '' ? null : JSON.parse(text);
    } catch (error) {
        if (error.name === 'AbortError') {
            throw error;
        }
        throw noAnswer(`${method} ${where}`);
    }
}

export const get = (where, options) => json('GET', where, options);
export const post = (where, body, options) => json('POST', where, { ...options, body });
export const put = (where, body, options) => json('PUT', where, { ...options, body });
export const patch = (where, body, options) => json('PATCH', where, { ...options, body });
export const remove = (where, options) => json('DELETE', where, options);

/* Returns the items of all pages of a list, at most `most` of them. */
export async function list(where, { query, most = 1000, signal } = {}) {
    const items = [];
    let after;
    do {
        const limit = Math.min(most - items.length, 1000);
        const page = await get(where, { query: { ...query, limit, after }, signal });
        items.push(...page.items);
        after = page.next;
    } while (after && items.length < most);
    return items;
}

/* Sends a Blob, read by the browser piece by piece, and reports progress(sent, total). Returns
 * {status, json, header(name)}. options as for call(). */
export function upload(method, where, blob, options = {}, progress = () => {}) {
    const name = `${method} ${where}`;
    return new Promise((done, fail) => {
        const request = new XMLHttpRequest();
        const abort = () => request.abort();
        request.open(method, url(where, options.query));
        for (const [header, value] of Object.entries(headersOf(options))) {
            request.setRequestHeader(header, value);
        }
        request.upload.onprogress = (event) => progress(event.loaded, event.total);
        request.onerror = () => {
            fail(noAnswer(name));
        };
        request.onabort = () => fail(new DOMException('The upload was cancelled', 'AbortError'));
        request.onloadend = () => options.signal?.removeEventListener('abort', abort);
        request.onload = () => {
            if (request.status < 200 || request.status >= 300) {
                fail(refusal(request.status, request.responseText, name));
                return;
            }
            done({
                status: request.status,
                json: request.responseText === '' ? null : JSON.parse(request.responseText),
                header: (header) => request.getResponseHeader(header),
            });
        };
        if (options.signal?.aborted) {
            fail(new DOMException('The upload was cancelled', 'AbortError'));
            return;
        }
        options.signal?.addEventListener('abort', abort);
        request.send(blob);
    });
}

/* Splits text/event-stream into {id, event, data}. Keeps an incomplete event. */
class EventReader {
    constructor() {
        this.rest = '';
    }

    take(text) {
        const blocks = (this.rest + text).split(/\r?\n\r?\n/);
        this.rest = blocks.pop();
        return blocks.map((block) => {
            const event = { event: 'message', data: '' };
            for (const line of block.split(/\r?\n/)) {
                const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
                if (field === 'data') {
                    event.data += (event.data ? '\n' : '') + value;
                } else if (field !== '') {
                    event[field] = value;
                }
            }
            return event;
        }).filter((event) => event.data !== '');
    }
}

const RECONNECT = 300; /* ms until a stream that has ended is opened again */
const CROWDED = 3000; /* ms if the daemon has no room for it */

/* Follows a stream of events (text/event-stream): calls onEvent({id, event, data}) for each, with
 * data as parsed JSON. It continues after a lost connection behind the last event, and returns when
 * onEvent returns true, when the server has ended the stream with status 204, or after `signal`. */
export async function events(where, onEvent, signal) {
    let last;
    while (!signal.aborted) {
        const reader = new EventReader();
        let pause = RECONNECT;
        try {
            const headers = last === undefined ? {} : { 'Last-Event-ID': last };
            const response = await call('GET', where,
                { accept: 'text/event-stream', headers, signal });
            if (response.status === 204) {
                return;
            }
            const body = response.body.pipeThrough(new TextDecoderStream()).getReader();
            for (let part = await body.read(); !part.done; part = await body.read()) {
                for (const event of reader.take(part.value)) {
                    last = event.id ?? last;
                    if (onEvent({ ...event, data: JSON.parse(event.data) }) === true) {
                        await body.cancel();
                        return;
                    }
                }
            }
        } catch (error) {
            if (error.name === 'AbortError' || signal.aborted) {
                return;
            }
            if ([429, 503].includes(error.status)) {
                pause = CROWDED;
            } else if (error instanceof CallError && error.status !== 0) {
                throw error;
            } else {
                void reportLost();
            }
        }
        await whenUp();
        await new Promise((done) => setTimeout(done, pause));
    }
}
