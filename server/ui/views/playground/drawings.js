/* What a panel shows of a trained model: for each kind of drawing the outputs it needs of the API,
 * and the component that draws them. */
import { h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { get, path, post } from '../../base/api.js';
import { Histogram, Lines } from './lines.js';
import { Drawing, planeOutputs } from './drawing.js';
import { CLASSES, LIMIT, encode } from './shapes.js';

const BINS = 24;
const STEPS = 81; /* values of a profile */

const referenceOf = ({ dataset }) => `${dataset.name}@${dataset.version}`;
const colourOf = (name) => CLASSES.indexOf(String(name));

/* The points projected on the direction of an angle, as a histogram. */
function projected(points, degrees) {
    const angle = degrees * Math.PI / 180;
    const values = points.map((p) => p.x * Math.cos(angle) + p.y * Math.sin(angle));
    const [least = 0, greatest = 1] = d3.extent(values);
    const wide = greatest > least ? (greatest - least) / BINS : 1 / BINS;
    const used = [...new Set(points.map((p) => p.c))].sort();
    const counts = used.map(() => new Array(BINS).fill(0));
    points.forEach((p, i) => {
        const bin = Math.min(Math.floor((values[i] - least) / wide), BINS - 1);
        counts[used.indexOf(p.c)][bin] += 1;
    });
    return {
        edges: Array.from({ length: BINS + 1 }, (_, i) => least + i * wide), counts,
        classes: used.map((c) => CLASSES[c]), colours: used,
    };
}

const steps = (least, greatest, step) => d3.range(least, greatest + step / 2, step);
const MARGINS = [...steps(-2, -0.05, 0.05), -1e-9, ...steps(0, 3, 0.05)];
const LOSSES = {
    '0/1': (m) => (m < 0 ? 1 : 0),
    hinge: (m) => Math.max(0, 1 - m),
    logistic: (m) => Math.log1p(Math.exp(-m)) / Math.LN2,
    squared: (m) => (1 - m) ** 2,
    exponential: (m) => Math.exp(-m),
};

export const DRAWINGS = {
    plane: { outputs: planeOutputs, show: Drawing },

    histogram: {
        outputs: async (version, job, signal) => ({
            histogram: (await post(`${version}/transform`,
                { dataset: referenceOf(job), histogram: BINS }, { signal })).histograms[0],
            classes: job.result.metrics.train.confusion.classes,
        }),
        show: ({ trained: { histogram, classes }, ...figure }) => h(Histogram, {
            ...figure, ...histogram, of: histogram, classes, colours: classes.map(colourOf),
        }),
    },

    projection: {
        show: ({ points, values, ...figure }) => h(Histogram, {
            ...figure, ...projected(points, values.angle), of: `${encode(points)} ${values.angle}`,
        }),
    },

    criterion: {
        outputs: async (version, job, signal) => ({
            curve: await post(`${version}/projection_curve`,
                { dataset: referenceOf(job), columns: ['x', 'y'], steps: 181 }, { signal }),
        }),
        show: ({ trained: { curve }, values, ...figure }) => h(Lines, {
            ...figure, of: `${JSON.stringify(curve.maximum)} ${values.angle}`,
            marks: [values.angle],
            series: [{
                name: 'J',
                points: curve.angles.map((a, i) => [a * 180 / Math.PI, curve.criterion[i]])
                    .map(([a, j]) => [a > 90 ? a - 180 : a, j]).sort((a, b) => a[0] - b[0]),
            }],
            x: { label: 'angle of the direction in degrees', from: -90, to: 90 },
            y: { label: 'J', from: 0 },
        }),
    },

    /* The scores from one corner of the plane to the other. */
    profile: {
        outputs: async (version, job, signal) => {
            const at = steps(-LIMIT, LIMIT, 2 * LIMIT / (STEPS - 1));
            const { predictions } = await post(`${version}/predict`,
                { instances: at.map((v) => ({ x: v, y: v })) },
                { query: { output: 'scores' }, signal });
            return { at, scores: predictions.map((p) => p.scores) };
        },
        show: ({ trained: { at, scores }, ...figure }) => h(Lines, {
            ...figure, of: scores,
            series: scores[0].map((_, k) => ({
                name: CLASSES[k], points: at.map((v, i) => [v, scores[i][k]]),
            })),
            x: { label: 'x = y along the diagonal', from: -LIMIT, to: LIMIT },
            y: { label: 'score' },
        }),
    },

    history: {
        outputs: async (version, job, signal) =>
            ({ history: await get(path`/v1/jobs/${job.id}/history`, { signal }) }),
        show: ({ trained: { history }, ...figure }) => h(Lines, {
            ...figure, of: history, marks: [10, 100, 1000],
            series: [{
                name: 'loss',
                points: history.items.map((item) => [item.iteration, item.loss]),
            }],
            x: { label: 'steps', log: true, from: 1 }, y: { label: 'loss', log: true },
        }),
    },

    errors: {
        outputs: async (version, job, signal) =>
            ({ history: await get(path`/v1/jobs/${job.id}/history`, { signal }) }),
        show: ({ trained: { history }, values, ...figure }) => h(Lines, {
            ...figure, of: `${history.items.length} ${values.step}`, marks: [values.step],
            series: [{
                name: 'errors',
                points: history.items.filter((item) => (item.update ?? 0) <= 100)
                    .map((item) => [item.update ?? 0, item.train_error]),
            }],
            x: { label: 'steps', from: 0 }, y: { label: 'share of wrong points', from: 0 },
        }),
    },

    losses: {
        show: (figure) => h(Lines, {
            ...figure, of: LOSSES, marks: [0],
            series: Object.entries(LOSSES).map(([name, loss]) => ({
                name, points: MARGINS.map((m) => [m, loss(m)]),
            })),
            x: { label: 'margin m', from: -2, to: 3 }, y: { label: 'loss', from: 0, to: 5 },
        }),
    },
};
