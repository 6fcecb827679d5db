"""What the headline numbers of a run say, in sentences."""

import math

from reporting import headline


def launch(run, method, gpus):
    """What a launch costs as a barrier, in ns."""
    found = headline.launch(method, gpus)(run)
    return found.estimate.value if found else math.nan


def barriers(run, title, method, gpus):
    """(blocks per SM, threads) -> ns"""
    values = {key: found.estimate.value
              for key, found in headline.by_shape(run, title, method, gpus).items()}
    return {key: value for key, value in values.items() if value > 0}


def up_to(costs, limit):
    """The most blocks per SM up to which every barrier costs less than the limit."""
    most = 0
    for blocks in sorted({blocks for blocks, _ in costs}):
        if max(cost for (found, _), cost in costs.items() if found == blocks) >= limit:
            return most, False
        most = blocks
    return most, True


def versus(name, what, costs, limit, unit=" per SM"):
    """One sentence on a barrier beside another way, None where either was not measured."""
    if not costs or not limit > 0:
        return None
    most, always = up_to(costs, limit)
    where = ("at no shape that was measured" if not most
             and min(costs.values()) >= limit else
             "at every shape that was measured" if always else
             f"up to {most} block{'s' * (most > 1)}{unit}" if most else
             "only at some shapes with 1 block per SM")
    here = f" ({costs[1, 1024]:,.0f} ns" if (1, 1024) in costs else ""
    beside = f" beside {limit:,.0f} ns with 1 per SM x 1024)" if here else ""
    return f"{name} costs less than {what} {where}{here}{beside}."


def conclusions(run):
    """The sentences, of what was measured."""
    found = [versus("grid_sync", "traditional_launch",
                    barriers(run, "grid latency", "grid_sync", 1),
                    launch(run, "traditional_launch", 1))]
    if run.gpus > 1:
        found.append(versus(
            f"On {run.gpus} GPUs, peer_grid_sync", "a launch on each and an OpenMP barrier",
            barriers(run, "multi-GPU latency", "peer_grid_sync", run.gpus),
            launch(run, "single_omp_traditional_launch", run.gpus)))
    return [sentence for sentence in found if sentence]
