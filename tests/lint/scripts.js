/* The modules of the page: their syntax, the names they import (used, and exported by the module they
 * come from), the layers (base imports base only, parts no view, views no other view), the length of
 * lines, the file's first comment, and that the build can leave out indentation and comments. */
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { spawnSync } = require('child_process');

const ROOT = 'server/ui';
const LONGEST = 100; /* columns of a line */
const ADDED = ['preact', 'd3']; /* folders that the build adds */
let wrong = 0;

function complain(file, line, text) {
    console.log(`${file}${line ? `:${line}` : ''}: ${text}`);
    wrong++;
}

function files(folder) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(folder, entry.name);
        return entry.isDirectory() ? files(name) : name.endsWith('.js') ? [name] : [];
    }).sort();
}

const texts = new Map(files(ROOT).map((file) => [file, fs.readFileSync(file, 'utf8')]));

/* The names that a module exports. */
function exportsOf(text) {
    const names = [...text.matchAll(/^export (?:async )?(?:const|let|class|function\*?) ([\w$]+)/gm)]
        .map((m) => m[1]);
    for (const [, list] of text.matchAll(/^export \{([^}]*)\}/gm)) {
        names.push(...list.split(',').map((s) => s.trim().split(/\s+as\s+/).pop()).filter(Boolean));
    }
    return new Set(names);
}

/* {names: [{name, as}], from, line} of each import of names. */
function importsOf(text) {
    return [...text.matchAll(/^import \{([^}]*)\} from '([^']*)';/gm)].map((m) => ({
        names: m[1].split(',').map((s) => s.trim()).filter(Boolean).map((s) => {
            const [name, as = name] = s.split(/\s+as\s+/);
            return { name, as };
        }),
        from: m[2],
        line: text.slice(0, m.index).split('\n').length,
    }));
}

/* "base", "parts", "views/data", … of a file. */
function layerOf(file) {
    const parts = path.relative(ROOT, file).split(path.sep);
    return parts[0] === 'views' ? parts.slice(0, 2).join('/') : parts.length > 1 ? parts[0] : '';
}

function mayImport(from, to) {
    return from === '' || from === to || to === 'base' ||
        (to === 'parts' && from.startsWith('views/'));
}

function checkImports(file, text) {
    const rest = text.replace(/^import [^;]*;/gm, '');
    for (const { names, from, line } of importsOf(text)) {
        const target = path.join(path.dirname(file), from);
        const added = ADDED.includes(path.relative(ROOT, target).split(path.sep)[0]);
        if (!from.startsWith('.') || (!added && !texts.has(target))) {
            complain(file, line, `there is no module ${from}`);
            continue;
        }
        if (!added && !mayImport(layerOf(file), layerOf(target))) {
            complain(file, line, `no arrow from ${layerOf(file)} to ${layerOf(target)}`);
        }
        for (const { name, as } of names) {
            if (!added && !exportsOf(texts.get(target)).has(name)) {
                complain(file, line, `${from} does not export ${name}`);
            }
            if (!new RegExp(`(?:(?<![\\w$.])|(?<=\\.{3}))${as.replace(/\$/g, '\\$')}(?![\\w$])`).test(rest)) {
                complain(file, line, `${as} is imported and not used`);
            }
        }
    }
}

/* vm does not tell the line of an error; `node --check`, which takes longer, does. */
function checkSyntax(file, text) {
    try {
        new vm.SourceTextModule(text);
    } catch (error) {
        const node = spawnSync(process.execPath, ['--check', '--input-type=module'],
            { input: text, encoding: 'utf8' });
        const [, line] = /\[stdin\]:(\d+)/.exec(node.stderr) || [];
        complain(file, line, String(error));
    }
}

/* The build removes comments that fill lines: a comment that begins a line must end one. */
function checkComments(file, text) {
    for (const { 0: begin, index } of text.matchAll(/^[ \t]*\/\*/gm)) {
        const end = text.indexOf('*/', index + begin.length);
        if (!/^ *(\n|$)/.test(text.slice(end + 2, end + 100))) {
            complain(file, text.slice(0, end).split('\n').length, 'code after a comment that begins a line');
        }
    }
}

function parses(text) {
    try {
        return Boolean(new vm.Script(text));
    } catch {
        return false;
    }
}

/* The build removes the indentation of each line: no line may begin within a template literal. There,
 * and there only, any text at its begin leaves a valid program. */
function checkIndentation(file, text) {
    const script = text.replace(/^import [^;]*;/gm, (all) => all.replace(/[^\n]/g, ' '))
        .replace(/^export (\{[^}]*\}[^;]*;)?/gm, '').replace(/import\.meta/g, 'self');
    const lines = script.split('\n');
    if (!parses(script)) {
        complain(file, 0, 'cannot be checked for template literals of several lines');
    }
    /* The text of a literal that goes on in the next line begins at ` or behind the } of a value. */
    const begins = /\$\{[^}]*$/m.test(script) ? /[`}]/ : /`/;
    for (let i = 1; i < lines.length; i++) {
        if (begins.test(lines[i - 1]) && parses([...lines.slice(0, i), `*/ @@${lines[i]}`, ...lines.slice(i + 1)].join('\n'))) {
            complain(file, i + 1, 'a template literal must end on its line');
            return;
        }
    }
}

for (const [file, text] of texts) {
    checkSyntax(file, text);
    checkImports(file, text);
    checkComments(file, text);
    checkIndentation(file, text);
    if (!text.startsWith('/*')) {
        complain(file, 1, 'the file must begin with a comment that says what it holds');
    }
    text.split('\n').forEach((line, i) => {
        if ([...line].length > LONGEST) {
            complain(file, i + 1, `${[...line].length} columns; at most ${LONGEST}`);
        }
    });
}
for (const name of fs.readdirSync(ROOT).filter((file) => file.endsWith('.css'))) {
    checkComments(`${ROOT}/${name}`, fs.readFileSync(`${ROOT}/${name}`, 'utf8'));
}
process.exitCode = wrong ? 1 : 0;
