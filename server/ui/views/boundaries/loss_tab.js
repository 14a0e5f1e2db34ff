/* The surface of the training objective of a linear model: the loss over two of its weights. */
import { Component, h } from '../../base/preact.js';
import { get, post } from '../../base/api.js';
import { count, number } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { versionPath } from '../../base/version_path.js';
import { Choice, NumberField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { LossFigure } from './loss_figure.js';

const LINEAR = ['logistic', 'least_squares', 'perceptron'];
const MOST_WORK = 2e8; /* rows times points of a surface */
const STEPS = [11, 61]; /* fewest and most */
const MOST_NAMES = 1000;
const LOSSES = {
    cross_entropy: 'Cross entropy (logistic regression)',
    squared_error: 'Squared error (least squares)',
    hinge: 'Hinge (support vector machine)', perceptron: 'Perceptron',
};
const OWN_LOSS = { least_squares: 'squared_error', svm: 'hinge', perceptron: 'perceptron' };

/* Whether a model may have linear discriminants of classes. */
export function hasLossSurface({ algorithm, params, target, dataset }) {
    const kernel = params?.kernel?.type ?? params?.kernel;
    return target !== null && dataset &&
        (LINEAR.includes(algorithm) || (algorithm === 'svm' && kernel === 'linear'));
}

/* The classes of a discriminant in the request; undefined for two classes. */
function classesOf(discriminant, classes) {
    return classes.length === 2 ? undefined : discriminant.classes || discriminant.class ||
        discriminant.positive;
}

const nameOf = (discriminant, classes) => [classesOf(discriminant, classes)].flat().join(' or ');

/* A range around a weight that shows the valley of the loss. */
function around(weight) {
    const half = Math.max(2 * Math.abs(weight), 0.5);
    return [weight - half, weight + half].map((v) => Number(v.toPrecision(3)));
}

/* The settings of the URL with their defaults. */
function settings(model, weights, query) {
    const names = [...weights.features, 'intercept'];
    const discriminant = weights.discriminants[query.discriminant] ? Number(query.discriminant) : 0;
    const values = [...weights.w[discriminant], weights.w0[discriminant]];
    const size = (j) => Math.abs(values[j]);
    const order = names.map((_, j) => j).sort((a, b) => size(b) - size(a));
    const first = names.includes(query.w1) ? query.w1 : names[order.find((j) =>
        names[j] !== query.w2 && names[j] !== 'intercept') ?? 0];
    const second = names.includes(query.w2) && query.w2 !== first ? query.w2
        : names.find((name) => name === 'intercept' && name !== first) || names[order[0]];
    const axis = (name, text) => {
        const given = (text || '').split(',').map(Number);
        const ends = given.length === 2 && given[0] < given[1] ? given
            : around(values[names.indexOf(name)]);
        return { name, from: ends[0], to: ends[1] };
    };
    return {
        names, discriminant, loss: LOSSES[query.loss] ? query.loss
            : OWN_LOSS[model.algorithm] || 'cross_entropy',
        axes: [axis(first, query.r1), axis(second, query.r2)],
    };
}

/* The ends of the two axes, applied by a button. */
class Range extends Component {
    constructor(props) {
        super(props);
        this.state = { texts: {}, error: null };
    }

    apply(event) {
        event.preventDefault();
        const { axes } = this.props;
        const number_ = (i, end) => Number(this.state.texts[`${i}${end}`] ?? axes[i][end]);
        const ends = [0, 1].map((i) => [number_(i, 'from'), number_(i, 'to')]);
        const wrong = ends.findIndex(([a, b]) => !(a < b && Number.isFinite(b - a)));
        if (wrong >= 0) {
            this.setState({ error: `“${axes[wrong].name}” needs two numbers, the first below ` +
                'the second.' });
            return;
        }
        this.setState({ texts: {}, error: null });
        setQuery({ r1: ends[0].join(), r2: ends[1].join() });
    }

    render({ axes }, { texts, error }) {
        const field = (i, end, label) => h(NumberField, {
            label, value: texts[`${i}${end}`] ?? String(axes[i][end]),
            onInput: (text) => this.setState({ texts: { ...texts, [`${i}${end}`]: text } }),
        });
        return h('form', { class: 'stack', onSubmit: (event) => this.apply(event) }, [
            h('div', { class: 'fields narrow' }, axes.flatMap(({ name }, i) => [
                field(i, 'from', `${name} from`), field(i, 'to', `${name} to`)])),
            error ? h('p', { class: 'error', role: 'alert' }, error) : null,
            h('div', { class: 'buttons' }, [
                h('button', { type: 'submit' }, 'Show this part'),
                h('button', {
                    type: 'button', onClick: () => {
                        this.setState({ texts: {}, error: null });
                        setQuery({ r1: undefined, r2: undefined });
                    },
                }, 'Around the model'),
            ]),
        ]);
    }
}

function Fields({ model, weights, chosen }) {
    const { names, discriminant, loss, axes } = chosen;
    const weight = (label, i) => h(Choice, {
        label, value: axes[i].name, options: names.slice(0, MOST_NAMES),
        onChange: (name) => setQuery({ [`w${i + 1}`]: name, [`r${i + 1}`]: undefined }),
    });
    return h('section', { class: 'card stack', 'aria-labelledby': 'weights-title' }, [
        h('h2', { id: 'weights-title' }, 'What is drawn'),
        weight('Weight across', 0), weight('Weight up', 1),
        h(Choice, {
            label: 'Loss', value: loss, hint: 'how wrong answers are counted',
            options: Object.entries(LOSSES).map(([value, label]) => ({ value, label })),
            onChange: (value) => setQuery({ loss: value }),
        }),
        weights.discriminants.length > 1 ? h(Choice, {
            label: 'Score of', value: discriminant,
            options: weights.discriminants.slice(0, MOST_NAMES).map((d, i) => ({ value: i,
                label: nameOf(d, model.classes) })),
            onChange: (i) => setQuery({ discriminant: i, r1: undefined, r2: undefined }),
        }) : null,
        h(Range, { axes }),
    ]);
}

function Surface({ model, weights, query }) {
    if (weights.kind !== 'linear' || !weights.discriminants) {
        return h('p', { class: 'empty' }, 'This model has no weights of classes, so it has no ' +
            'surface over them.');
    }
    const chosen = settings(model, weights, query);
    const { name, version, rows } = model.dataset;
    const steps = Math.min(Math.max(Math.floor(Math.sqrt(MOST_WORK / rows)), STEPS[0]), STEPS[1]);
    const request = {
        dataset: `${name}@${version}`, loss: chosen.loss,
        class: classesOf(weights.discriminants[chosen.discriminant], model.classes),
        weights: chosen.axes.map((axis) => ({ ...axis, steps })),
    };
    return h('div', { class: 'split' }, [
        h('div', { class: 'card' }, h(Loaded, {
            of: request, what: 'the surface',
            load: (signal) => post(`${versionPath(model)}/loss_grid`, request, { signal }),
            show: (answer) => h('div', { class: 'stack' }, [
                h(LossFigure, { model, answer, key: 'figure' }),
                h('ul', {}, [
                    h('li', {}, 'Each place is a model with these two weights; all other weights ' +
                        'stay as they were trained. The stronger the colour, the greater ' +
                        'the loss.'),
                    h('li', {}, `The loss is the mean over ${count(answer.rows)} training rows, ` +
                        'without the penalty that training may add.'),
                    h('li', {}, `The square is the trained model, the circle the least loss on ` +
                        `this grid (${number(answer.minimum.value)}). They differ if training ` +
                        'added a penalty, used another loss, or has not converged.'),
                ]),
            ]),
        })),
        h(Fields, { model, weights, chosen }),
    ]);
}

export function LossTab({ model, query }) {
    return h(Loaded, {
        of: 0, what: 'the weights',
        load: (signal) => get(`${versionPath(model)}/weights`,
            { query: { matrices: 'false' }, signal }),
        show: (weights) => h(Surface, { model, weights, query }),
    });
}
