/* What is drawn over the plane of a panel. inner: of frame(); at: {right, up}, the scales. */
import { d3 } from '../../base/d3.js';
import { colour, symbol } from '../../parts/palette.js';
import { CLASSES, LIMIT } from './shapes.js';

const OTHER = { inlier: 2, outlier: 4 }; /* colours of classes that are none of the drawing */

/* The number of the colour of a class by its name. */
export function colourOf(name) {
    const c = CLASSES.indexOf(String(name));
    return c >= 0 ? c : OTHER[name] ?? 9;
}

/* Ellipses at one and two standard deviations of each class of `gaussian`. */
export function drawEllipses(inner, { right, up }, { means, covariances, classes }) {
    means.forEach((mean, k) => {
        const s = covariances[covariances.length === 1 ? 0 : k];
        const [[a, b], [, d]] = Array.isArray(s[0]) ? s : [[s[0], 0], [0, s[1]]];
        /* the columns of Cholesky's factor map a circle to the ellipse */
        const l11 = Math.sqrt(a);
        const l21 = b / l11;
        const l22 = Math.sqrt(Math.max(d - l21 * l21, 0));
        for (const radius of [1, 2]) {
            const around = d3.range(0, 2 * Math.PI + 0.05, 0.1).map((t) => [
                right(mean[0] + radius * l11 * Math.cos(t)),
                up(mean[1] + radius * (l21 * Math.cos(t) + l22 * Math.sin(t)))]);
            inner.g.append('path').attr('class', 'play-ellipse').attr('d', d3.line()(around))
                .style('stroke', colour(colourOf(classes[k])));
        }
        inner.g.append('path').attr('class', 'play-mean').attr('d', symbol(4, 90))
            .attr('transform', `translate(${right(mean[0])},${up(mean[1])})`)
            .style('fill', colour(colourOf(classes[k])));
    });
}

/* Draws a line through (x, y) along (u, v), and returns it. */
function drawWay(inner, { right, up }, [x, y], [u, v], kind) {
    const far = 4 * LIMIT;
    return inner.g.append('line').attr('class', `play-way ${kind}`)
        .attr('x1', right(x - far * u)).attr('y1', up(y - far * v))
        .attr('x2', right(x + far * u)).attr('y2', up(y + far * v));
}

/* Fisher's direction, and dashed that of an angle in degrees, through the middle of the points. */
export function drawDirections(inner, at, directions, points, degrees) {
    const middle = [d3.mean(points, (p) => p.x), d3.mean(points, (p) => p.y)];
    const angle = degrees * Math.PI / 180;
    drawWay(inner, at, middle, directions[0], 'best');
    drawWay(inner, at, middle, [Math.cos(angle), Math.sin(angle)], 'own');
}

/* The grid of a line w'x + w0, as readGrid() gives it. */
export function linearGrid(w, w0, classes, n = 51) {
    const x = d3.range(n).map((i) => -LIMIT + i * 2 * LIMIT / (n - 1));
    const scores = x.flatMap((v) => x.map((u) => w[0] * u + w[1] * v + w0));
    return {
        x, y: x, classes, scores: [scores], labels: scores.map((s) => (s >= 0 ? 1 : 0)),
        rule: 'native',
    };
}

/* Lines w'x + w0 = 0, the last one the clearest. */
export function drawTrail(inner, at, snapshots) {
    snapshots.forEach(({ w, w0 }, i) => {
        const square = w[0] ** 2 + w[1] ** 2;
        if (square > 0) {
            drawWay(inner, at, [-w0 * w[0] / square, -w0 * w[1] / square],
                [-w[1] / Math.sqrt(square), w[0] / Math.sqrt(square)], 'trail')
                .style('stroke-opacity', (i + 1) ** 2 / snapshots.length ** 2);
        }
    });
}

/* The slack of the support vectors of a linear machine: from the point to the edge of the margin of
 * its class. machine: of SupportVectors. */
export function drawSlack(inner, { right, up }, w, machine, points) {
    const square = w[0] ** 2 + w[1] ** 2;
    machine.rows.forEach((row, i) => {
        const p = points[row];
        const way = Math.sign(machine.coefficients[i]) * machine.slack[i] / square;
        inner.g.append('line').attr('class', 'play-slack')
            .attr('x1', right(p.x)).attr('y1', up(p.y))
            .attr('x2', right(p.x + way * w[0])).attr('y2', up(p.y + way * w[1]));
    });
}
