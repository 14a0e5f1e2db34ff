/* Saves data as files of the user. */
import { call } from './api.js';

export function saveBlob(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export function saveText(text, name, type = 'text/plain') {
    saveBlob(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

/* Saves the answer of a GET. options as for call(), and `progress`, which gets the number of bytes
 * received. */
export async function saveAnswer(where, name, { progress = () => {}, ...options } = {}) {
    const response = await call('GET', where, options);
    let received = 0;
    const counted = response.body.pipeThrough(new TransformStream({
        transform(part, controller) {
            received += part.length;
            progress(received);
            controller.enqueue(part);
        },
    }));
    const type = response.headers.get('Content-Type') || '';
    saveBlob(await new Response(counted, { headers: { 'Content-Type': type } }).blob(), name);
}

function cell(value) {
    if (value === null || value === undefined) {
        return '';
    }
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/* Returns values as a row of CSV (RFC 4180), which is also how queries list names of columns. */
export function csvLine(values) {
    return values.map(cell).join(',');
}

/* Returns rows as CSV, with a header. */
export function csv(names, rows) {
    return [names, ...rows].map(csvLine).join('\r\n') + '\r\n';
}
