/* The same call as a command of curl, as Python and as JavaScript, to be copied. */
import { Component, h } from '../base/preact.js';
import { url } from '../base/api.js';
import { token } from '../base/session.js';
import { announce } from './status.js';

/* A request: {method, path, query, type, accept, headers, body, file}. body: an object (JSON) or a
 * string; file: name of a file that is sent in its place; headers: further ones by name. */

const LONG = 80; /* characters of a body that is written in one line */

function headersOf(request) {
    const headers = Object.entries(request.headers || {});
    const json = request.body !== undefined && typeof request.body !== 'string';
    if (request.type || (json && request.type === undefined)) {
        headers.push(['Content-Type', request.type || 'application/json']);
    }
    if (request.accept) {
        headers.push(['Accept', request.accept]);
    }
    return headers;
}

/* The body as text. indent: spaces of each level, if a JSON body is too long for one line. */
function bodyText({ body }, indent) {
    if (typeof body === 'string') {
        return body;
    }
    const text = JSON.stringify(body);
    return indent && text.length > LONG ? JSON.stringify(body, null, indent) : text;
}

const quote = (text) => `'${String(text).replace(/'/g, "'\\''")}'`;

function curl(request) {
    const parts = ['curl -sS'];
    const sends = request.file !== undefined || request.body !== undefined;
    const implied = request.file !== undefined ? 'PUT' : sends ? 'POST' : 'GET';
    if (request.file !== undefined) {
        parts.push(`-T ${quote(request.file)}`);
    }
    if (request.method !== implied) {
        parts.push(`-X ${request.method}`);
    }
    for (const [name, value] of headersOf(request)) {
        parts.push(`-H ${quote(`${name}: ${value}`)}`);
    }
    if (token()) {
        parts.push('-H "Authorization: Bearer $TOKEN"');
    }
    parts.push(quote(url(request.path, request.query).href));
    if (request.body !== undefined) {
        parts.push(`-d ${quote(bodyText(request, 2))}`);
    }
    return parts.join(' \\\n  ');
}

function python(request) {
    const headers = headersOf(request).map(([name, value]) =>
        `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    if (token()) {
        headers.push('"Authorization": "Bearer " + os.environ["TOKEN"]');
    }
    const data = request.file !== undefined
        ? `open(${JSON.stringify(request.file)}, "rb")`
        : request.body !== undefined ? `${JSON.stringify(bodyText(request))}.encode()` : null;
    return [
        `import json${token() ? ', os' : ''}, urllib.request`,
        '',
        'request = urllib.request.Request(',
        `    ${JSON.stringify(url(request.path, request.query).href)},`,
        ...(data ? [`    data=${data},`] : []),
        `    headers={${headers.join(', ')}},`,
        `    method=${JSON.stringify(request.method)})`,
        'with urllib.request.urlopen(request) as response:',
        request.accept && !request.accept.includes('json')
            ? '    print(response.read().decode())' : '    print(json.load(response))',
    ].join('\n');
}

function javascript(request) {
    const headers = headersOf(request).map(([name, value]) =>
        `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    if (token()) {
        headers.push('Authorization: `Bearer ${token}`');
    }
    const body = request.file !== undefined ? 'file'
        : request.body === undefined ? null
            : typeof request.body === 'string' ? JSON.stringify(request.body)
                : `JSON.stringify(${bodyText(request, 4).replace(/\n/g, '\n    ')})`;
    return [
        `const response = await fetch(${JSON.stringify(url(request.path, request.query).href)}, {`,
        `    method: ${JSON.stringify(request.method)},`,
        `    headers: { ${headers.join(', ')} },`,
        ...(body ? [`    body: ${body},`] : []),
        '});',
        `console.log(await response.${request.accept && !request.accept.includes('json')
            ? 'text' : 'json'}());`,
    ].join('\n');
}

const LANGUAGES = {
    curl: ['curl', curl], python: ['Python', python], js: ['JavaScript', javascript],
};

export async function copy(text, what) {
    try {
        await navigator.clipboard.writeText(text);
        announce(`${what} copied`);
    } catch {
        announce('The browser does not permit copying: select the text and copy it');
    }
}

/* request: as above. languages: some of 'curl', 'python', 'js' (all). */
export class RequestCode extends Component {
    constructor(props) {
        super(props);
        this.state = { language: 'curl' };
    }

    render({ request, title = 'The same by command', languages = ['curl', 'python', 'js'] },
        { language }) {
        const text = LANGUAGES[language][1](request);
        return h('section', { class: 'code', 'aria-label': title }, [
            h('div', { class: 'code-head' }, [
                h('strong', {}, title),
                h('span', { class: 'buttons' }, [
                    ...(languages.length > 1 ? languages.map((name) => h('button', {
                        type: 'button', class: 'quiet',
                        'aria-pressed': name === language ? 'true' : 'false',
                        onClick: () => this.setState({ language: name }),
                    }, LANGUAGES[name][0])) : []),
                    h('button', {
                        type: 'button', onClick: () => copy(text, 'The command was'),
                    }, 'Copy'),
                ]),
            ]),
            h('pre', { tabindex: '0' }, h('code', {}, text)),
            token() ? h('p', { class: 'minor' }, 'TOKEN is a variable with your token.') : null,
        ]);
    }
}
