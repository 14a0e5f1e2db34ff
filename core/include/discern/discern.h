/* Includes all public headers of libdiscern. */
#ifndef DISCERN_DISCERN_H
#define DISCERN_DISCERN_H

#include <discern/algorithm.h>
#include <discern/compare.h>
#include <discern/datetime.h>
#include <discern/decision.h>
#include <discern/describe.h>
#include <discern/duals.h>
#include <discern/encoder.h>
#include <discern/expansion.h>
#include <discern/held_out.h>
#include <discern/histogram.h>
#include <discern/importance.h>
#include <discern/kernel.h>
#include <discern/loss_grid.h>
#include <discern/machine.h>
#include <discern/matrix.h>
#include <discern/metrics.h>
#include <discern/model.h>
#include <discern/number.h>
#include <discern/projection.h>
#include <discern/rows.h>
#include <discern/run.h>
#include <discern/search.h>
#include <discern/simple.h>
#include <discern/statistics.h>
#include <discern/status.h>
#include <discern/stop_reason.h>
#include <discern/table.h>
#include <discern/text.h>

#endif
