/* The answers of a model on a grid (POST …/evaluate_grid) as curves in the plane. A field is one
 * number for each point of the grid, row by row; curves are drawn where it has a value. */
import { d3 } from '../base/d3.js';
import { parseDate } from '../base/dates.js';

const AGREE = 0.9; /* share of the points at which a smooth field must agree with the labels */
const LEAST = 1e-9;

/* Returns the grid of an answer as the plane draws it: its values as numbers, its planes as fields.
 * forms: {x, y} of datetime columns. rule: `decision` of the model. The caller sets `planes` if
 * there are probabilities of some classes only: their indices, in the order of the planes. */
export function readGrid(answer, forms = {}, rule = 'native') {
    const numbers = (axis, form) => (form ? axis.values.map((v) => parseDate(v, form))
        : axis.values);
    const field = (plane) => plane.flat();
    return {
        x: numbers(answer.x, forms.x), y: numbers(answer.y, forms.y), classes: answer.classes,
        labels: answer.labels && field(answer.labels), rule,
        probabilities: answer.probabilities?.map(field), scores: answer.scores?.map(field),
    };
}

/* Returns the probabilities of class k as a field; undefined: the grid does not have them. */
export function probabilityField({ probabilities, planes }, k) {
    return probabilities?.[planes ? planes.indexOf(k) : k];
}

/* ---- fields ---- */

/* The number of a value of an axis, with fractions, and the other way round. */
const step = (values) => (values[values.length - 1] - values[0]) / (values.length - 1);
const indexOf = (values, v) => (v - values[0]) / step(values);

function greatestOther(planes, i, k) {
    let most = -Infinity;
    for (let j = 0; j < planes.length; j++) {
        most = j !== k && planes[j][i] > most ? planes[j][i] : most;
    }
    return most;
}

/* How clearly class k is before all others at point i; below 0: it is not. */
const lead = (planes, k) => (i) => planes[k][i] - greatestOther(planes, i, k);

/* The same if the machine of k alone must be positive. */
const alone = (planes, k) => (i) => Math.min(planes[k][i], -greatestOther(planes, i, k));

/* The same if k must win all of its pairs: (0, 1), (0, 2), … (1, 2), … */
function wins(planes, k, nClasses) {
    const signed = [];
    for (let i = 0, pair = 0; i < nClasses; i++) {
        for (let j = i + 1; j < nClasses; j++, pair++) {
            if (i === k || j === k) {
                signed.push([planes[pair], j === k ? 1 : -1]);
            }
        }
    }
    return (i) => signed.reduce((least, [plane, sign]) => Math.min(least, sign * plane[i]),
        Infinity);
}

/* Of a strict rule: (k) => field; null: the scores are not those of such machines. */
function strict({ scores, classes, rule }) {
    const n = classes.length;
    if (!scores || n < 3) {
        return null;
    }
    if (rule.startsWith('one_vs_one') && scores.length === n * (n - 1) / 2) {
        return (k) => wins(scores, k, n);
    }
    return rule.startsWith('one_vs_rest') && scores.length === n ? (k) => alone(scores, k) : null;
}

/* Of two classes: the field of one number, cut where the labels change. usual: that value if the
 * labels permit it. Returns (k) => field, or null. */
function cutAt(plane, labels, usual) {
    const ends = [0, 1].map((k) => d3.extent(plane.filter((_, i) => labels[i] === k)));
    const [first, second] = ends;
    if (labels.includes(null) || first[0] === undefined || second[0] === undefined) {
        return null;
    }
    const sign = first[1] <= second[0] ? 1 : second[1] <= first[0] ? -1 : 0;
    const [low, high] = sign > 0 ? [first[1], second[0]] : [second[1], first[0]];
    const value = low <= usual && usual <= high ? usual : (low + high) / 2;
    return sign === 0 ? null : (k) => (i) => (k === 1 ? sign : -sign) * (plane[i] - value);
}

/* The smooth fields that may have made the labels. */
function candidates(grid) {
    const { labels, probabilities, scores, classes } = grid;
    if (classes.length === 2) {
        return [scores?.length === 1 ? cutAt(scores[0], labels, 0) : null,
            probabilities ? cutAt(probabilities[1], labels, 0.5) : null];
    }
    const each = (planes) => (planes?.length === classes.length ? (k) => lead(planes, k) : null);
    return [each(probabilities), strict(grid),
        grid.rule.startsWith('one_vs_one') ? null : each(scores)];
}

function agreement(make, present, labels) {
    let right = 0;
    for (const k of present) {
        const value = make(k);
        right += labels.filter((label, i) => (label === k) === (value(i) > 0)).length;
    }
    return right / (present.length * labels.length);
}

/* The boxes {left, top, right, bottom} around the points of each label, and one point further where
 * the grid goes on; ends are inside. */
function boxesOf({ labels, x, y }) {
    const [nx, ny] = [x.length, y.length];
    const boxes = new Map();
    labels.forEach((label, at) => {
        const [i, j] = [at % nx, Math.floor(at / nx)];
        const box = boxes.get(label);
        if (box) {
            box.left = Math.min(box.left, i);
            box.right = Math.max(box.right, i);
            box.bottom = j;
        } else {
            boxes.set(label, { left: i, right: i, top: j, bottom: j });
        }
    });
    for (const box of boxes.values()) {
        box.left = Math.max(box.left - 1, 0);
        box.top = Math.max(box.top - 1, 0);
        box.right = Math.min(box.right + 1, nx - 1);
        box.bottom = Math.min(box.bottom + 1, ny - 1);
    }
    return boxes;
}

/* Returns [{k, curve}] of the regions of a grid: the edge of where class k is the label; k null:
 * where there is none. The labels decide, and scores or probabilities make the edges smooth if they
 * agree with the labels. Only the box around a region is looked at: a thousand regions cost hardly
 * more than one. */
export function regionsOf(grid) {
    const { labels } = grid;
    const boxes = boxesOf(grid);
    const all = [...boxes.keys()].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
    const present = all.filter((k) => k !== null);
    const smooth = candidates(grid).filter(Boolean)
        .map((make) => ({ make, share: agreement(make, present, labels) }))
        .reduce((best, c) => (c.share > best.share ? c : best), { make: null, share: AGREE });
    const make = smooth.make || (() => () => 0);
    return all.map((k) => {
        const value = k === null ? nowhere(grid, make, present) : make(k);
        const sign = (v, is) => (v === 0 ? (is ? 1 : -1)
            : is ? Math.max(v, LEAST) : Math.min(v, -LEAST));
        return { k, curve: curveIn(grid, boxes.get(k), (at) => sign(value(at), labels[at] === k)) };
    });
}

/* The curve at which value(index of a point) is 0, if it is above 0 in a box only. */
function curveIn(grid, { left, top, right, bottom }, value) {
    const [width, height] = [right - left + 1, bottom - top + 1];
    const field = d3.range(width * height).map((at) => value(
        (top + Math.floor(at / width)) * grid.x.length + left + at % width));
    const curve = d3.contours().size([width, height]).contour(field, 0);
    return { ...curve, coordinates: curve.coordinates.map((rings) =>
        rings.map((ring) => ring.map(([x, y]) => [x + left, y + top]))) };
}

function nowhere(grid, make, present) {
    const values = present.map(make);
    return (i) => -values.reduce((most, value) => Math.max(most, value(i)), -Infinity);
}

/* Returns the field that is above 0 where the machines of a grid do not agree on one class: no
 * machine or several claim the point, or no class wins all of its pairs. null: there are none. */
export function disputed(grid) {
    const make = strict(grid);
    if (!make) {
        return null;
    }
    const value = nowhere(grid, make, grid.classes.map((_, k) => k));
    return grid.scores[0].map((_, i) => value(i));
}

const MOST_TRIED = 60; /* places of a curve that are tried for its label */
const LABEL_ROOM = 14; /* px above a label and below it that no point should take */
const LABEL_SHAPE = 1.5; /* the room beside it over that */

/* ---- curves ---- */

/* Returns the curve around the points of the grid at which a field is above a level, as GeoJSON in
 * numbers of the grid's values. At the edges of the grid it is half a cell outside. */
export function curveOf(grid, field, level) {
    return d3.contours().size([grid.x.length, grid.y.length]).contour(field, level);
}

/* Returns ([x, y]) => px, of numbers of the grid's values. right, up: the scales of the plane. */
function placing(grid, right, up) {
    const [dx, dy] = [step(grid.x), step(grid.y)];
    return ([x, y]) => [right(grid.x[0] + (x - 0.5) * dx), up(grid.y[0] + (y - 0.5) * dy)];
}

/* Returns (curve) => path in px. */
export function pathOf(grid, right, up) {
    const place = placing(grid, right, up);
    const ring = (points) => `M${points.map((p) => place(p).map((v) => v.toFixed(2)).join())
        .join('L')}Z`;
    return (curve) => curve.coordinates.flat().map(ring).join('');
}

/* Returns where on a curve its value is written, or null: on the longest part that is inside of a
 * box in px, where it hides no place of `taken` (px), as near to the middle as that is possible. */
export function labelPlace(grid, curve, right, up, box, taken) {
    const place = placing(grid, right, up);
    const isInside = ([x, y]) => x > box.left && x < box.right && y > box.top && y < box.bottom;
    let best = [];
    for (const ring of curve.coordinates.flat()) {
        let part = [];
        for (const at of [...ring.map(place), [-Infinity, 0]]) {
            if (isInside(at)) {
                part.push(at);
            } else {
                best = part.length > best.length ? part : best;
                part = [];
            }
        }
    }
    const middle = Math.floor(best.length / 2);
    const stride = Math.max(Math.floor(best.length / MOST_TRIED), 1);
    const order = d3.range(0, best.length, stride)
        .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    const room = ([x, y]) => Math.min(LABEL_ROOM,
        d3.min(taken, ([px, py]) => Math.hypot((px - x) / LABEL_SHAPE, py - y)) ?? LABEL_ROOM);
    let found = null;
    for (const i of order) {
        const r = room(best[i]);
        if (found === null || r > found.r) {
            found = { r, place: best[i] };
        }
        if (r === LABEL_ROOM) {
            break;
        }
    }
    return found?.place ?? null;
}

/* Returns [{k, x, y, cells}]: the point of the region of each class that is farthest from its
 * edges, and how many cells that is. */
export function middles({ labels, x, y }) {
    const [nx, ny] = [x.length, y.length];
    const far = new Float64Array(nx * ny);
    const near = (i, j, di, dj) => {
        const [a, b] = [i + di, j + dj];
        return a < 0 || b < 0 || a >= nx || b >= ny || labels[b * nx + a] !== labels[j * nx + i]
            ? 0 : far[b * nx + a];
    };
    const sweep = (order, steps) => order.forEach((at) => {
        const [i, j] = [at % nx, Math.floor(at / nx)];
        const d = Math.min(...steps.map(([di, dj, way]) => near(i, j, di, dj) + way));
        far[at] = far[at] === 0 ? d : Math.min(far[at], d);
    });
    const order = d3.range(nx * ny);
    const [side, slant] = [1, Math.SQRT2];
    sweep(order, [[-1, 0, side], [0, -1, side], [-1, -1, slant], [1, -1, slant]]);
    sweep(order.reverse(), [[1, 0, side], [0, 1, side], [1, 1, slant], [-1, 1, slant]]);
    const best = new Map();
    far.forEach((cells, at) => {
        const k = labels[at];
        if (k !== null && cells > (best.get(k)?.cells ?? 0)) {
            best.set(k, { k, x: x[at % nx], y: y[Math.floor(at / nx)], cells });
        }
    });
    return [...best.values()];
}

/* Returns what a grid says about a point: {label: index or null, probability: of the label,
 * scores}, between the points of the grid; null: the point is outside. */
export function answerAt(grid, x, y) {
    const [nx, ny] = [grid.x.length, grid.y.length];
    const [i, j] = [indexOf(grid.x, x), indexOf(grid.y, y)];
    if (i < -0.5 || j < -0.5 || i > nx - 0.5 || j > ny - 0.5) {
        return null;
    }
    const clamp = (v, most) => Math.min(Math.max(v, 0), most);
    const [i0, j0] = [clamp(Math.floor(i), nx - 2), clamp(Math.floor(j), ny - 2)];
    const [u, v] = [clamp(i - i0, 1), clamp(j - j0, 1)];
    const between = (f) => (1 - v) * ((1 - u) * f[j0 * nx + i0] + u * f[j0 * nx + i0 + 1]) +
        v * ((1 - u) * f[(j0 + 1) * nx + i0] + u * f[(j0 + 1) * nx + i0 + 1]);
    const label = grid.labels[(j0 + Math.round(v)) * nx + i0 + Math.round(u)];
    const probability = probabilityField(grid, label);
    return {
        label, scores: grid.scores?.map(between),
        probability: probability && between(probability),
    };
}
