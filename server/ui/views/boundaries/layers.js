/* What is drawn in the plane: the layers that are on, kept in the URL, and their controls. */
import { h } from '../../base/preact.js';
import { count } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { Check, Choice } from '../../parts/fields.js';
import { hasMany, scoreCount } from './answers.js';

const MOST_CHOICES = 1000;
const MOST_MACHINES = 3; /* whose lines are drawn together */

const isMachine = ({ algorithm }) => algorithm === 'svm' || algorithm === 'one_class_svm';
const isSeveral = (model) => model.classes.length > 2 && model.decision !== 'native';

/* for: the models that have the layer; first: whether it is on at first. */
const LAYERS = {
    regions: { label: 'Classes in colours', for: () => true, first: () => true },
    boundary: { label: 'Decision boundary', for: () => true, first: () => true },
    probability: {
        label: 'Lines of equal probability', first: () => false,
        for: (model) => model.algorithm !== 'one_class_svm',
        hint: 'where the model is 10, 25, 50, 75 and 90 % sure of a class',
    },
    margin: {
        label: 'Margin', for: ({ algorithm }) => algorithm === 'svm',
        first: (model) => scoreCount(model) === 1,
        hint: 'where the score is −1 and +1: the street between the classes',
    },
    support: {
        label: 'Support vectors', for: (model) => isMachine(model) && model.dataset,
        first: () => true, hint: 'a ring around the rows that hold the boundary',
    },
    machines: {
        label: 'Line of each machine', for: isSeveral, first: () => false,
        hint: 'the model compares classes by several machines; each has a line of its own',
    },
    disputed: {
        label: 'Where machines disagree', for: isSeveral, first: () => false,
        hint: 'hatched: none or several machines claim the place',
    },
    data: { label: 'Rows of the data', for: () => true, first: () => true },
    wrong: {
        label: 'Only rows with a wrong answer', for: (model) => model.target !== null,
        first: () => false,
    },
};

/* Returns {name: boolean} of the layers of a model. */
export function layersOf(model, { show }) {
    const on = show === undefined ? null : new Set(show.split('.'));
    return Object.fromEntries(Object.entries(LAYERS).filter(([, layer]) => layer.for(model))
        .map(([name, layer]) => [name, on ? on.has(name) : layer.first(model)]));
}

/* The indices of the machines whose lines are drawn. */
export function machinesOf(model, { machine }) {
    const n = scoreCount(model);
    const one = Number(machine);
    return machine !== undefined && one < n ? [one]
        : Array.from({ length: Math.min(n, MOST_MACHINES) }, (_, m) => m);
}

/* The names of the machines, in the order of the scores. */
function machineNames({ classes, decision }) {
    if (!decision.startsWith('one_vs_one')) {
        return classes.map((name) => `${name} against all others`);
    }
    return classes.flatMap((a, i) => classes.slice(i + 1).map((b) => `${a} or ${b}`));
}

function setLayer(layers, name, on) {
    const names = Object.entries({ ...layers, [name]: on }).filter(([, is]) => is)
        .map(([key]) => key);
    setQuery({ show: names.join('.') || 'nothing' });
}

/* The index of the class that the URL names; undefined: it names no class of the model. */
export function namedClass(model, query) {
    const k = /^\d+$/.test(query.class) ? Number(query.class) : NaN;
    return k < model.classes.length ? k : undefined;
}

/* The index of the class whose probability is drawn. grid: may be null. */
export function chosenClass(model, query, grid) {
    return namedClass(model, query) ?? grid?.planes?.[0] ?? model.classes.length - 1;
}

/* A model with many classes has lines of those with the largest regions. */
function ProbabilityChoice({ model, query, grid }) {
    const { classes } = model;
    const chosen = chosenClass(model, query, grid);
    const shown = grid?.planes || (hasMany(model) ? [chosen] : classes.map((_, k) => k));
    return h(Choice, {
        label: 'Probability of', value: chosen,
        hint: grid?.planes ? `of ${count(classes.length)} classes, those with the largest ` +
            'regions in this part of the plane' : undefined,
        options: shown.map((k) => ({ value: k, label: String(classes[k]) })),
        onChange: (k) => setQuery({ class: k }),
    });
}

function MachineChoice({ model, query }) {
    const names = machineNames(model).slice(0, MOST_CHOICES);
    const all = names.length <= MOST_MACHINES ? 'All' : `The first ${MOST_MACHINES}`;
    return h(Choice, {
        label: 'Machine', value: query.machine || '',
        options: [{ value: '', label: all }, ...names.map((label, m) => ({ value: m, label }))],
        onChange: (m) => setQuery({ machine: m }),
    });
}

/* layers: of layersOf(); lacks: {name: why the layer cannot be drawn}; grid: may be null */
export function LayerFields({ model, query, layers, lacks, grid }) {
    const needsMachine = isSeveral(model) && (layers.margin || layers.machines || layers.support);
    return h('section', { class: 'card stack', 'aria-labelledby': 'layers-title' }, [
        h('h2', { id: 'layers-title' }, 'What is drawn'),
        ...Object.entries(layers).map(([name, on]) => h(Check, {
            key: name, label: LAYERS[name].label, checked: on, disabled: lacks[name] !== undefined,
            hint: lacks[name] || LAYERS[name].hint,
            onChange: (value) => setLayer(layers, name, value),
        })),
        layers.probability && !lacks.probability
            ? h(ProbabilityChoice, { key: 'class', model, query, grid }) : null,
        needsMachine ? h(MachineChoice, { key: 'machine', model, query }) : null,
    ]);
}
