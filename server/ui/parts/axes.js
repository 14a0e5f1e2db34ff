/* Axes and grid lines of plots. */
import { d3 } from '../base/d3.js';

export const MARGIN = { top: 12, right: 16, bottom: 40, left: 56 };
const LABEL_GAP = 8; /* px between the end of a grid line and its label */

/* Appends the inner group of a plot. Returns {g, width, height}: its selection and inner size. */
export function frame(svg, size, margin = MARGIN) {
    return {
        g: svg.append('g').attr('transform', `translate(${margin.left},${margin.top})`),
        width: Math.max(size.width - margin.left - margin.right, 10),
        height: Math.max(size.height - margin.top - margin.bottom, 10),
    };
}

/* Returns the labels of an axis, and the width of the longest one. */
function labelsOf(scale, ticks, format) {
    const labels = scale.ticks(ticks).map(scale.tickFormat(ticks, format)).filter(Boolean);
    return { n: labels.length, width: 7 * d3.max(labels, (label) => label.length) };
}

/* Returns the width at the left that the labels of an axis take, at least `least`. options as for
 * yAxis. */
export function labelRoom(scale, { ticks, format }, least) {
    return Math.max(least, 18 + labelsOf(scale, ticks, format).width);
}

/* Returns how many ticks an axis below gets, so that its labels do not touch each other. options as
 * for xAxis. */
function ticksBelow(scale, room, { ticks, format }) {
    for (let most = ticks ?? Math.max(room / 80, 2); ; most -= 1) {
        const { n, width } = scale.ticks && most > 2 ? labelsOf(scale, most, format) : { n: 0 };
        if (!(n * (width + 12) > room)) {
            return most;
        }
    }
}

/* Very small and very large numbers get exponents, unless a format is given; dates do not. */
function writeNumbers(axis, scale, { format }) {
    if (scale.domain()[0] instanceof Date) {
        return;
    }
    const size = d3.max(scale.domain(), Math.abs);
    if (format === undefined && (size < 1e-3 || size >= 1e7)) {
        const write = d3.format('.3~e');
        axis.tickFormat((x) => (x === 0 ? '0' : write(x)));
    }
}

/* Writes negative numbers and shares of an axis as format.js does. */
function writeLikeTexts(drawn, scale) {
    if (scale.ticks) {
        drawn.selectAll('text').each(function write() {
            this.textContent = this.textContent.replaceAll('-', '−').replace(/%$/, '\u00a0%');
        });
    }
}

/* Draws the axis below the frame. options: label, ticks, format, grid. */
export function xAxis({ g, width, height }, scale, options = {}) {
    const ticks = ticksBelow(scale, width, options);
    const axis = d3.axisBottom(scale).ticks(ticks, options.format).tickSizeOuter(0);
    writeNumbers(axis, scale, options);
    if (options.grid) {
        axis.tickSizeInner(-height).tickPadding(LABEL_GAP);
    }
    g.append('g').attr('class', `axis${options.grid ? ' grid' : ''}`)
        .attr('transform', `translate(0,${height})`).call(axis).call(writeLikeTexts, scale);
    if (options.label) {
        g.append('text').attr('class', 'axis-label').attr('x', width / 2).attr('y', height + 34)
            .attr('text-anchor', 'middle').text(options.label);
    }
}

/* Draws the axis at the left of the frame. options as for xAxis. */
export function yAxis({ g, width, height }, scale, options = {}) {
    const ticks = options.ticks ?? Math.max(height / 50, 2);
    const axis = d3.axisLeft(scale).ticks(ticks, options.format).tickSizeOuter(0);
    writeNumbers(axis, scale, options);
    if (options.grid) {
        axis.tickSizeInner(-width).tickPadding(LABEL_GAP);
    }
    g.append('g').attr('class', `axis${options.grid ? ' grid' : ''}`)
        .call(axis).call(writeLikeTexts, scale);
    if (options.label) {
        g.append('text').attr('class', 'axis-label').attr('text-anchor', 'middle')
            .attr('transform', `translate(${-(options.offset ?? 44)},${height / 2}) rotate(-90)`)
            .text(options.label);
    }
}
