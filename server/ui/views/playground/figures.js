/* The figures of the lectures, as data.
 *
 *   name, title, topic, section  topic and section are those of the manual's page "The lectures"
 *   look      what to look at; tries: what to do
 *   points    for generate()
 *   controls  [{name, label, from, to, value, log, step, text}]: sliders; panels get their values
 *   panels    [{title, note, show, request}], each trained as a model of its own
 *     request  (values) => {algorithm, params, features, …}; null: nothing is trained
 *     draw     'plane' (default) or another key of DRAWINGS in panel.js
 *     show     parts of a plane: margins, slack, contours, ellipses, direction, steps
 *     expected  true: that the training does not converge is intended and not mentioned
 */
import { number } from '../../base/format.js';

const RAW = { standardize: false };
const B = 'Bishop, Pattern Recognition and Machine Learning';
const A = 'Alpaydın, Introduction to Machine Learning';
const D = 'Duda, Hart and Stork, Pattern Classification';
const H = 'Hastie, Tibshirani and Friedman, The Elements of Statistical Learning';
const QUADRATIC = { basis: [{ type: 'polynomial', degree: 2 }] };
const leastSquares = (multiclass) => () => ({ algorithm: 'least_squares', params: { multiclass } });
const TWO_CLOUDS = [
    { c: 0, x: -1.1, y: -0.6, n: 30, sd: 1 }, { c: 1, x: 1.1, y: 0.6, n: 30, sd: 1 }];
const DESCENT = {
    solver: 'gradient_descent', learning_rate: 0.003, init: 'zero', penalty: 'none', tolerance: 0,
};
const descent = (steps) => () => ({
    algorithm: 'logistic', params: { ...DESCENT, max_iterations: steps }, features: RAW,
});
const rbf = (factor) => ({ width }) => ({
    algorithm: 'svm', features: RAW,
    params: { C: 10, kernel: { type: 'rbf', width: factor * width } },
});

export const FIGURES = [{
    name: 'xor',
    title: 'XOR: no line will do',
    topic: 'Basis functions, exclusive or; units that learn features',
    section: `${B}, section 4.3.1; ${A}, section 11.5; ${D}, section 5.11`,
    look: 'Points of class A are in two opposite corners, those of class B in the other two. No ' +
        'straight line has all of A on one side. The product x·y does separate them: it is ' +
        'positive for A and negative for B. A basis with x², x·y and y² has it, a kernel finds ' +
        'it, and a network learns it.',
    tries: [
        'Remove two neighbouring corners: then the line is enough.',
        'Move one corner into the middle and watch which method still follows.'],
    points: { shape: 'xor', n: 80, noise: 0.55, seed: 3 },
    panels: [{
        title: 'A line: logistic regression', note: 'It is right for about half of the points.',
        request: () => ({ algorithm: 'logistic' }),
    }, {
        title: 'The same with x², x·y, y²',
        note: 'Linear in five features, a hyperbola in the plane.',
        request: () => ({ algorithm: 'logistic', features: QUADRATIC }),
    }, {
        title: 'Support vectors with an rbf kernel', note: 'Ringed points are support vectors.',
        show: { margins: true },
        request: () => ({ algorithm: 'svm', params: { C: 1, kernel: { type: 'rbf', width: 1 } } }),
    }, {
        title: 'A network with 4 hidden units', note: 'Each unit is a line; the output joins them.',
        request: () => ({ algorithm: 'mlp', params: { layers: [4] } }),
    }],
}, {
    name: 'masking',
    title: 'Masking: least squares loses a class',
    topic: 'Masking of a class; least squares for classes',
    section: `${H}, section 4.2; ${B}, section 4.1.3`,
    look: 'Three classes in a row. Least squares fits one linear function to each class: 1 in it ' +
        'and 0 elsewhere. Along the row the function of A falls and that of C rises; that of B ' +
        'stays near 1/3 and is almost nowhere the greatest, so B is not predicted. Linear ' +
        'discriminant analysis and softmax have linear functions, too, but find B.',
    tries: [
        'Pull the middle class out of the row: least squares finds it again.',
        'Remove most points of B: does it change where the others are predicted?'],
    points: {
        clouds: [{ c: 0, x: -3, y: -3, n: 40, sd: 0.5 }, { c: 1, x: 0, y: 0, n: 40, sd: 0.5 },
            { c: 2, x: 3, y: 3, n: 40, sd: 0.5 }],
        seed: 7,
    },
    panels: [{
        title: 'Least squares', note: 'B is predicted only where there are no points.',
        request: () => ({ algorithm: 'least_squares', params: { lambda: 0 } }),
    }, {
        title: 'Its three functions along the diagonal', draw: 'profile',
        note: 'The greatest one is predicted. The function of B is nearly flat.',
        request: () => ({ algorithm: 'least_squares', params: { lambda: 0 } }),
    }, {
        title: 'Linear discriminant analysis',
        note: 'Each class is a Gaussian; all have the same covariance.',
        request: () => ({ algorithm: 'gaussian' }),
    }, {
        title: 'Softmax (logistic regression)', note: 'The functions are fitted together.',
        request: () => ({ algorithm: 'logistic' }),
    }],
}, {
    name: 'fisher',
    title: 'Fisher’s projection',
    topic: 'Fisher’s discriminant: w = Sw⁻¹(m1 − m0), J(w) over the angle, projected histograms',
    section: `${B}, section 4.1.4; ${A}, section 6.8`,
    look: 'All points are projected on one direction. On the line through the two means the long ' +
        'classes overlap. Fisher’s direction is turned: the means are a little nearer to each ' +
        'other, but each class is much narrower. J is the squared distance of the projected ' +
        'means divided by the scatter within the classes.',
    tries: [
        'Turn the direction with the slider and find the maximum of J yourself.',
        'Make the classes round (drag their ends in): then the line of the means is best.'],
    points: {
        clouds: [{ c: 0, x: -1.2, y: 0.9, n: 60, sd: 1.7, sd2: 0.35, turn: 30 },
            { c: 1, x: 1.2, y: -0.1, n: 60, sd: 1.7, sd2: 0.35, turn: 30 }],
        seed: 5,
    },
    controls: [{
        name: 'angle', label: 'Your direction', from: -90, to: 90, step: 1, value: -23,
        text: (v) => `${v}°`.replace('-', '−'),
        hint: 'It begins near the line through the means.',
    }],
    panels: [{
        title: 'The plane',
        note: 'Coloured lines are directions: solid Fisher’s, dashed yours.',
        show: { direction: true }, request: () => ({ algorithm: 'fisher' }),
    }, {
        title: 'Projected on Fisher’s direction', draw: 'histogram',
        note: 'The classes hardly overlap.', request: () => ({ algorithm: 'fisher' }),
    }, {
        title: 'Projected on your direction', draw: 'projection',
        note: 'Every class is wider where the direction runs along it.', request: null,
    }, {
        title: 'Fisher’s criterion J over the angle', draw: 'criterion',
        note: 'The dashed line is your direction.', request: () => ({ algorithm: 'fisher' }),
    }],
}, {
    name: 'pairs',
    title: 'One against the rest, and pairs',
    topic: 'Regions of several classes, ambiguous points',
    section: `${B}, section 4.1.2, figures 4.2 and 4.3`,
    look: 'Lines for two classes can be combined to a decision among three. One against the ' +
        'rest: a line for each class; between them no class claims a point, or two do. Pairs: a ' +
        'line for each pair; in the middle A may beat B, B beat C, and C beat A. The points of ' +
        'such regions are ambiguous; they are hatched. One function for each class, of which the ' +
        'greatest wins, has no such region.',
    tries: [
        'Remove the far points of one class: what becomes of the triangle in the middle?',
        'Add a fourth class (key 4) in the middle.'],
    points: {
        clouds: [
            { c: 0, x: 0, y: 2.2, n: 25, sd: 0.5 }, { c: 0, x: 2.6, y: 3.7, n: 16, sd: 0.3 },
            { c: 1, x: -1.9, y: -1.1, n: 25, sd: 0.5 }, { c: 1, x: -4.4, y: 0.4, n: 16, sd: 0.3 },
            { c: 2, x: 1.9, y: -1.1, n: 25, sd: 0.5 }, { c: 2, x: 1.9, y: -4.1, n: 16, sd: 0.3 }],
        seed: 21,
    },
    panels: [{
        title: 'One against the rest', note: 'Three lines, each “in this class or not”.',
        request: leastSquares('one_vs_rest_strict'),
    }, {
        title: 'Pairs: one against one', note: 'Three lines, one for each pair of classes.',
        request: leastSquares('one_vs_one_strict'),
    }, {
        title: 'One function for each class', note: 'The greatest of three functions wins.',
        request: leastSquares('native'),
    }],
}, {
    name: 'covariances',
    title: 'Shared and separate covariances',
    topic: 'One covariance: w and w0; quadratic discriminants',
    section: `${B}, section 4.2.1; ${A}, section 5.5; ${D}, section 2.6.3`,
    look: 'Each class is described by a Gaussian; the ellipses are one and two standard ' +
        'deviations from its mean. With one covariance for all classes the ellipses are equal ' +
        'and the boundary is a line. With a covariance for each class it is a curve of second ' +
        'degree. Diagonal covariances have ellipses along the axes.',
    tries: [
        'Make both classes equally round: the curve becomes a line.',
        'Leave only three points of B: how sure can its own covariance be?'],
    points: {
        clouds: [{ c: 0, x: -1.4, y: 0, n: 60, sd: 1.5, sd2: 0.5, turn: 60 },
            { c: 1, x: 1.6, y: 0.3, n: 60, sd: 1.2, sd2: 0.5, turn: -50 }],
        seed: 11,
    },
    panels: [{
        title: 'Shared: linear discriminant analysis', note: 'The boundary is a line.',
        show: { ellipses: true },
        request: () => ({ algorithm: 'gaussian', params: { covariance: 'shared' } }),
    }, {
        title: 'Separate: quadratic discriminants', note: 'The boundary is a conic section.',
        show: { ellipses: true },
        request: () => ({ algorithm: 'gaussian', params: { covariance: 'full' } }),
    }, {
        title: 'Separate and diagonal', note: 'As if x and y were independent in a class.',
        show: { ellipses: true },
        request: () => ({ algorithm: 'gaussian', params: { covariance: 'diagonal' } }),
    }],
}, {
    name: 'perceptron',
    title: 'The perceptron, step by step',
    topic: 'The boundary after each update of w',
    section: `${B}, section 4.1.7, figure 4.7; ${D}, section 5.5`,
    look: 'The perceptron looks at one point after the other. If a point is on the wrong side, ' +
        'it is added to the weights (class B) or subtracted from them (class A), which turns the ' +
        'boundary towards it. The ringed point has caused the last step. A step may make other ' +
        'points wrong: the number of errors goes up and down.',
    tries: [
        'Move the slider step by step and say before each step where the line will turn.',
        'Drag a point of A among those of B: the steps never end.'],
    points: {
        clouds: [{ c: 0, x: 1, y: 3, n: 15, sd: 0.7 },
            { c: 1, x: 2.8, y: 1.6, n: 15, sd: 0.7 }],
        seed: 29,
    },
    controls: [{
        name: 'step', label: 'Step', from: 0, to: 'steps', step: 1, value: 1,
        text: (v) => `after ${v}`,
    }],
    panels: [{
        title: 'The boundary after this step', note: 'Thin lines: the three steps before.',
        show: { steps: true }, expected: true,
        request: () => ({
            algorithm: 'perceptron', features: RAW,
            params: { order: 'given', at_zero: 'second', learning_rate: 1, max_iterations: 50 },
            snapshots_of: 'updates', snapshots: Array.from({ length: 101 }, (_, i) => i),
        }),
    }, {
        title: 'Errors after each step', draw: 'errors',
        note: 'The share of points on the wrong side. 0: the training ends.',
        request: () => ({
            algorithm: 'perceptron', features: RAW,
            params: { order: 'given', at_zero: 'second', learning_rate: 1, max_iterations: 50 },
            snapshots_of: 'updates',
        }),
    }],
}, {
    name: 'losses',
    title: 'Losses side by side',
    topic: 'Losses as bounds of the 0/1 loss',
    section: `${B}, section 7.1.2, figure 7.5; ${H}, section 10.6, figure 10.4`,
    look: 'The margin m of a point is its score, counted positive on the right side. The 0/1 ' +
        'loss counts errors, but no gradient can lower it. Methods lower a function above it: ' +
        'the hinge is 0 from m = 1 on, the logistic loss never quite, and the squared loss rises ' +
        'again for points that are “too right”.',
    tries: [
        'Drag a point of B far to the right: only the line of least squares follows it.',
        'Drag a point far to the wrong side: the exponential loss would pay most for it.'],
    points: { clouds: TWO_CLOUDS, seed: 62 },
    panels: [{
        title: 'The losses over the margin', draw: 'losses',
        note: 'The logistic loss is divided by ln 2, so that it is 1 at m = 0.', request: null,
    }, {
        title: 'Squared loss: least squares',
        note: 'All points pull, also those far on the right side.',
        show: { margins: true },
        request: () => ({ algorithm: 'least_squares', params: { lambda: 0 } }),
    }, {
        title: 'Logistic loss: logistic regression', note: 'Points near the boundary pull most.',
        show: { margins: true }, request: () => ({ algorithm: 'logistic' }),
    }, {
        title: 'Hinge loss: support vectors', note: 'Points beyond the margin do not pull.',
        show: { margins: true }, request: () => ({ algorithm: 'svm', params: { C: 1 } }),
    }],
}, {
    name: 'margin',
    title: 'Margin and slack',
    topic: 'The maximal margin, slack',
    section: `${B}, section 7.1; ${A}, sections 13.2 and 13.3`,
    look: 'The line is as far from both classes as possible. Dashed: the edges of the margin, ' +
        'where the score is −1 and 1. Ringed points are support vectors: on the edge, inside the ' +
        'margin, or on the wrong side. Only they decide where the line is. C is the price of a ' +
        'point inside.',
    tries: [
        'Lower C: the margin grows, and more points are inside.',
        'Drag a point that has no ring, outside of the margin: nothing changes.'],
    points: {
        clouds: [{ c: 0, x: -1.1, y: -0.7, n: 25, sd: 1 },
            { c: 1, x: 1.1, y: 0.7, n: 25, sd: 1 }],
        seed: 15,
    },
    controls: [{
        name: 'C', label: 'C, the price of a point inside the margin', from: 0.01, to: 1000,
        log: true, value: 1, text: (v) => number(v, 2),
    }],
    panels: [{
        title: 'Linear support vector machine',
        note: 'Thin lines: the slack, from a point inside to its edge of the margin.',
        show: { margins: true, slack: true },
        request: ({ C }) => ({ algorithm: 'svm', params: { C }, features: RAW }),
    }, {
        title: 'The same C with a quadratic kernel', note: 'The margin is bent with the boundary.',
        show: { margins: true },
        request: ({ C }) => ({
            algorithm: 'svm', params: { C, kernel: { type: 'polynomial', degree: 2 } },
            features: RAW,
        }),
    }],
}, {
    name: 'widths',
    title: 'Kernels of growing width',
    topic: 'Kernels: how far a point reaches',
    section: `${B}, section 6.2; ${A}, section 13.5`,
    look: 'The rbf kernel exp(−|x − z|²/(2 width²)) says how alike two points are. A narrow ' +
        'kernel draws an island around every point and learns the noise; a wide one is nearly a ' +
        'line. gamma, as other programs call it, is 1/(2 width²).',
    tries: [
        'Find a width at which the moons are separated and the boundary is smooth.',
        'Set one point of A among those of B: which widths give it an island?'],
    points: { shape: 'moons', n: 90, noise: 0.4, seed: 8 },
    controls: [{
        name: 'width', label: 'Width of the kernel in the middle', from: 0.1, to: 10, log: true,
        value: 0.8, text: (v) => `${number(v, 2)} (gamma ${number(1 / (2 * v * v), 2)})`,
    }],
    panels: [{
        title: 'A quarter of the width', note: 'Islands around the points.',
        show: { margins: true }, request: rbf(0.25),
    }, {
        title: 'The width', note: 'As chosen with the slider.',
        show: { margins: true }, request: rbf(1),
    }, {
        title: 'Four times the width', note: 'Nearly a line or a simple curve.',
        show: { margins: true }, request: rbf(4),
    }],
}, {
    name: 'outliers',
    title: 'Outliers',
    topic: 'Points far on the right side',
    section: `${B}, section 4.1.3, figure 4.4`,
    look: 'Eight points of class B lie far away, but on the right side. Least squares wants ' +
        'every score to be −1 or 1: for it they are “too right”, and it turns the line towards ' +
        'them. For logistic regression and the support vector machine they hardly count.',
    tries: [
        'Remove the far points one by one: the first line turns back.',
        'Drag one of them among the points of A: now all three methods suffer.'],
    points: {
        clouds: [{ c: 0, x: -2.6, y: 2.8, n: 40, sd: 1, sd2: 0.25, turn: 45 },
            { c: 1, x: -1.6, y: 1.8, n: 40, sd: 1, sd2: 0.25, turn: 45 },
            { c: 1, x: 1, y: -4.5, n: 8, sd: 0.3 }],
        seed: 12,
    },
    panels: [{
        title: 'Least squares', note: 'The far points turn the line.',
        request: () => ({ algorithm: 'least_squares', params: { lambda: 0 } }),
    }, {
        title: 'Logistic regression',
        note: 'A point with a probability near 1 has a gradient near 0.',
        request: () => ({ algorithm: 'logistic' }),
    }, {
        title: 'Support vector machine', note: 'Points beyond the margin have no weight at all.',
        show: { margins: true }, request: () => ({ algorithm: 'svm', params: { C: 1 } }),
    }],
}, {
    name: 'descent',
    title: 'Gradient descent after 10, 100 and 1,000 steps',
    topic: 'Gradient descent, two classes; the curve after 10, 100, 1,000 passes',
    section: `${A}, section 10.7`,
    look: 'Logistic regression begins with all weights 0 and takes equal steps down the ' +
        'gradient. After 10 steps the direction is rough and the probabilities change slowly; ' +
        'later the line hardly moves, but the probabilities become steeper. The loss falls ' +
        'quickly at first, then ever more slowly.',
    tries: [
        'Draw the classes apart: the weights grow without end, and the loss goes towards 0.',
        'Move all points away from the middle: the steps need longer to find the line.'],
    points: {
        clouds: [{ c: 0, x: 0.2, y: 1.4, n: 30, sd: 0.8 },
            { c: 1, x: 2.4, y: 2.4, n: 30, sd: 0.8 }],
        seed: 10,
    },
    panels: [
        ...[10, 100, 1000].map((steps) => ({
            title: `After ${steps.toLocaleString('en')} steps`, expected: true,
            show: { contours: true }, request: descent(steps),
        })),
        {
            title: 'The loss over the steps', draw: 'history',
            note: 'Mean cross-entropy of the points. Both axes are logarithmic.',
            expected: true, request: descent(1000),
        },
    ],
}];

export function figureOf(name) {
    return FIGURES.find((figure) => figure.name === name);
}
