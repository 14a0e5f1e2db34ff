/* A histogram of one number by class, as the API gives it for projections and scores. */
import { h } from '../base/preact.js';
import { d3 } from '../base/d3.js';
import { frame, xAxis, yAxis } from './axes.js';
import { Figure } from './figure.js';
import { Legend, colour } from './palette.js';

const MOST_CLASSES = 8;

function draw(svg, size, { edges, counts }, label) {
    const inner = frame(svg, size);
    const x = d3.scaleLinear().domain([edges[0], edges[edges.length - 1]]).range([0, inner.width]);
    const y = d3.scaleLinear().domain([0, d3.max(counts, (c) => d3.max(c)) || 1]).nice()
        .range([inner.height, 0]);
    xAxis(inner, x, { label, grid: false });
    yAxis(inner, y, { label: 'Rows', grid: true });
    const area = d3.area().curve(d3.curveStepAfter).x((_, i) => x(edges[i])).y0(y(0));
    counts.forEach((row, i) => {
        const closed = [...row, row[row.length - 1]];
        inner.g.append('path').attr('class', 'hump').style('fill', colour(i))
            .style('stroke', colour(i)).attr('d', area.y1((_, k) => y(closed[k]))(closed));
    });
}

/*   title, name, level  as for Figure
 *   label      of the axis
 *   histogram  {edges, counts: [of a class][of a bin]}
 *   classes    all names; the first ones are drawn
 */
export function ClassHistogram({ title, name, level, label, histogram, classes }) {
    const shown = { edges: histogram.edges, counts: histogram.counts.slice(0, MOST_CLASSES) };
    const names = classes.slice(0, MOST_CLASSES);
    return h('div', {}, [
        h(Figure, {
            title, name, level, of: histogram, height: 280,
            draw: (svg, size) => draw(svg, size, shown, label),
            table: () => ({
                names: ['from', 'to', ...names.map(String)],
                rows: shown.counts[0].map((_, k) => [shown.edges[k], shown.edges[k + 1],
                    ...shown.counts.map((row) => row[k])]),
            }),
        }, [h(Legend, { names })]),
        classes.length > MOST_CLASSES ? h('p', { class: 'minor' },
            `The first ${MOST_CLASSES} of ${classes.length} classes are drawn.`) : null,
    ]);
}
