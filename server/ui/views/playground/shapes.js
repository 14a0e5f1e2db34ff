/* Points of the plane: their range, their text in the URL, their table, and shapes that are
 * generated from a seed. A point is {x, y, c}: c is the number of its class, from 0. */
import { csv } from '../../base/save.js';

export const LIMIT = 5; /* x and y are in -LIMIT … LIMIT */
export const MOST = 1000; /* points */
export const CLASSES = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I'];
const SCALE = 100; /* coordinates are multiples of 1/SCALE */

function snap(v) {
    return Math.round(Math.min(Math.max(v, -LIMIT), LIMIT) * SCALE) / SCALE;
}

export function point(x, y, c) {
    return { x: snap(x), y: snap(y), c };
}

/* Five characters for each point: its class, x and y (base 36). */
export function encode(points) {
    const code = (v) => Math.round((v + LIMIT) * SCALE).toString(36).padStart(2, '0');
    return points.map((p) => `${p.c + 1}${code(p.x)}${code(p.y)}`).join('');
}

export function decode(text) {
    const value = (code) => parseInt(code, 36) / SCALE - LIMIT;
    return (text.match(/[1-9][0-9a-z]{4}/g) || []).slice(0, MOST)
        .map((s) => point(value(s.slice(1, 3)), value(s.slice(3)), Number(s[0]) - 1));
}

export function toCsv(points) {
    return csv(['x', 'y', 'class'], points.map((p) => [p.x, p.y, CLASSES[p.c]]));
}

/* Returns a function that draws from (0, 1): mulberry32. */
function uniform(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
    };
}

/* Returns a function that draws from the standard normal distribution (Box and Muller). */
function normal(draw) {
    return () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
}

/* Points around a centre. cloud: {c, x, y, n, sd, sd2, turn}: standard deviations along the axes of
 * an ellipse that is turned by `turn` degrees. */
function cloudPoints({ c, x, y, n, sd, sd2 = sd, turn = 0 }, gauss) {
    const angle = turn * Math.PI / 180;
    return Array.from({ length: n }, () => {
        const u = sd * gauss();
        const v = sd2 * gauss();
        return point(x + u * Math.cos(angle) - v * Math.sin(angle),
            y + u * Math.sin(angle) + v * Math.cos(angle), c);
    });
}

const around = (places) => (n, noise, gauss) => places.flatMap(([c, x, y], i) => cloudPoints({
    c, x, y, n: Math.floor((n + places.length - 1 - i) / places.length), sd: noise,
}, gauss));

/* n points on curves, one for each class, with noise. curve: (class, 0 … 1) => [x, y]. */
const along = (n, noise, gauss, draw, curve) => Array.from({ length: n }, (_, i) => {
    const [x, y] = curve(i % 2, draw());
    return point(x + noise * gauss(), y + noise * gauss(), i % 2);
});

const SHAPES = {
    clouds: { label: 'Two clouds', noise: 1, make: around([[0, -1.5, -1], [1, 1.5, 1]]) },
    rings: {
        label: 'Rings', noise: 0.3,
        make: (n, noise, gauss, draw) => along(n, noise, gauss, draw, (c, t) => {
            const radius = c === 0 ? 1.2 : 3.4;
            return [radius * Math.cos(2 * Math.PI * t), radius * Math.sin(2 * Math.PI * t)];
        }),
    },
    moons: {
        label: 'Moons', noise: 0.3,
        make: (n, noise, gauss, draw) => along(n, noise, gauss, draw, (c, t) => {
            const side = c === 0 ? 1 : -1;
            return [side * (2.4 * Math.cos(Math.PI * t) - 1.2),
                side * (2.4 * Math.sin(Math.PI * t) - 0.6)];
        }),
    },
    xor: {
        label: 'XOR', noise: 0.5,
        make: around([[0, -2, -2], [1, -2, 2], [1, 2, -2], [0, 2, 2]]),
    },
    row: {
        label: 'Three clouds in a row', noise: 0.5,
        make: around([[0, -3, -3], [1, 0, 0], [2, 3, 3]]),
    },
};

export const SHAPE_OPTIONS = Object.entries(SHAPES).map(([value, { label }]) => ({ value, label }));

export function usualNoise(shape) {
    return SHAPES[shape].noise;
}

/* spec: {shape, n, noise, seed} or {clouds: [cloud], seed}. */
export function generate({ shape, clouds, n, noise, seed }) {
    const draw = uniform(seed);
    const gauss = normal(draw);
    return clouds ? clouds.flatMap((cloud) => cloudPoints(cloud, gauss))
        : SHAPES[shape].make(n, noise, gauss, draw);
}
