/* The request of a job as a tree: members are read and changed by their JSON pointers, which are
 * also those of the problems of the API. */

function names(pointer) {
    return pointer.split('/').slice(1).map((name) =>
        name.replace(/~1/g, '/').replace(/~0/g, '~'));
}

/* Returns a name as a part of a pointer. */
export function escape(name) {
    return String(name).replace(/~/g, '~0').replace(/\//g, '~1');
}

/* The value at a pointer; undefined: there is none. */
export function at(tree, pointer) {
    return names(pointer).reduce((node, name) =>
        (node === null || typeof node !== 'object' ? undefined : node[name]), tree);
}

function putAt(node, path, value) {
    const [name, ...rest] = path;
    const isObject = node !== null && typeof node === 'object';
    const copy = Array.isArray(node) ? [...node] : isObject ? { ...node } : {};
    const child = rest.length ? putAt(copy[name], rest, value) : value;
    if (child === undefined) {
        delete copy[name];
    } else {
        copy[name] = child;
    }
    return Object.keys(copy).length ? copy : undefined;
}

/* Returns a copy of the tree with another value. undefined: removes the member, and the objects
 * that are empty then. */
export function put(tree, pointer, value) {
    return putAt(tree, names(pointer), value) || {};
}

/* A typed text as a value: a number, a list or an object of JSON, or the text. '': undefined. */
export function valueOf(text) {
    const trimmed = text.trim();
    if (trimmed === '') {
        return undefined;
    }
    const number = Number(trimmed.replace('−', '-'));
    if (Number.isFinite(number)) {
        return number;
    }
    if (/^[[{]/.test(trimmed)) {
        try {
            return JSON.parse(trimmed);
        } catch {
            return trimmed; /* unfinished: the API says what is wrong with it */
        }
    }
    return trimmed;
}

/* The value as a text to be edited. */
export function textOf(value) {
    return value === undefined || value === null ? ''
        : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/* The detail of the errors at a pointer or below it; '': none. */
export function errorAt(errors, pointer) {
    return errors.filter((e) => e.pointer === pointer || e.pointer?.startsWith(`${pointer}/`))
        .map((e) => e.detail).join('; ');
}

/* {name, version} of a reference such as "iris@2"; version '': the newest one. */
export function reference(text) {
    const [name, version = ''] = String(text ?? '').split('@');
    return { name, version };
}

const ORDER = ['model', 'dataset', 'target', 'target_as', 'search', 'algorithm', 'params'];

/* The same request with its members in the order in which people read them. */
export function inOrder(request) {
    const names = Object.keys(request);
    return Object.fromEntries([
        ...ORDER.filter((name) => names.includes(name)),
        ...names.filter((name) => !ORDER.includes(name)),
    ].map((name) => [name, request[name]]));
}
