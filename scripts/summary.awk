# The figures of a results folder, see summary.sh. A section is recognised by
# the columns it has, and by its title up to a colon where several have the
# same; a column by its header: neither order nor further columns matter. Plain
# POSIX awk.

kind == "environment" { environment[$1] = $2; next }

/^# gpu 0:/ && match($0, /[0-9]+ SMs/) { sms = substr($0, RSTART, RLENGTH) + 0 }
/^#/ {
  comment = substr($0, 3)
  sub(/:.*/, "", comment)
}
/^#/ || NF == 0 { next }

# The title is the last comment before the header.
$1 == "method" {
  title = comment
  split("", column)
  for (i = 1; i <= NF; i++) column[$i] = i
  next
}

kind == "implicit" && ("m(ovh)" in column) {
  gpus = $column["GPUCount"] + 0
  if (!($1 in known_launch)) add_launch($1, 0)
  if (gpus > 1) many_gpus[$1] = 1
  if (gpus > most_gpus) most_gpus = gpus
  remember("launch " $1 " " gpus, $column["m(ovh)"], $column["s(ovh)"])
}

kind == "intra" && $1 == "blocksync" && ("m(ave_cycle)" in column) {
  remember("block " $column["thrd"], $column["m(ave_cycle)"], $column["s(ave_cycle)"])
}

kind == "inter" && title == "grid latency" && $1 == "grid_sync" && $column["GPUcount"] == 1 {
  remember("grid " $column["blk"] " " $column["thrd"], $column["m(avginstru)"],
           $column["s(avginstr)"])
}

kind == "inter" && title == "multi-GPU latency" &&
($1 == "multi_grid_sync" || $1 == "peer_grid_sync") {
  gpus = $column["GPUcount"] + 0
  if (gpus > barrier_gpus[$1] + 0) barrier_gpus[$1] = gpus
  remember($1 " " gpus " " $column["blk"] " " $column["thrd"], $column["m(avginstru)"],
           $column["s(avginstr)"])
}

BEGIN {
  # Expected even when a run has no row of them.
  add_launch("traditional_launch", 0)
  add_launch("cooperative_launch", 0)
  add_launch("multi_cooperative_launch", 1)
  add_launch("single_omp_traditional_launch", 1)
}

function add_launch(method, is_many_gpus) {
  launch[++launches] = method
  known_launch[method] = 1
  if (is_many_gpus) many_gpus[method] = 1
}

function remember(key, value, deviation) {
  mean[key] = value
  spread[key] = deviation
}

function is_number(text) { return text ~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/ }

# A deviation of one sample is nan, and shown so.
function rounded(text) { return is_number(text) ? sprintf("%.2f", text) : text }

function figure(label, where, key, unit) {
  printf "  %-30s %-24s", label, where
  if (is_number(mean[key]))
    printf " %10s ± %-8s %s\n", rounded(mean[key]), rounded(spread[key]), unit
  else
    printf " %s\n", "not measured"
}

function plural(count, word) { return count " " word (count == 1 ? "" : "s") }

function grid_figure(per_sm, threads) {
  figure("grid_sync", plural(per_sm, "block") "/SM x " threads " threads",
         "grid " per_sm * sms " " threads, "ns")
}

# A method without a single row is not in the folder's executables.
function barrier_figures(method,   gpus) {
  for (gpus = 1; gpus <= barrier_gpus[method] + 0; gpus++)
    figure(method, plural(gpus, "GPU"), method " " gpus " " sms " 32", "ns")
}

END {
  if ("gpu" in environment) {
    printf "%s, driver %s, CUDA %s, commit %s, %s\n", \
           environment["gpu"] " x " environment["gpu_count"], environment["driver"], \
           environment["cuda_toolkit"], environment["suite_commit"], environment["date_utc"]
  }
  if ("cuda_toolkit_multi_grid" in environment)
    print "multi_grid_sync with CUDA " environment["cuda_toolkit_multi_grid"]
  print "Mean, and standard deviation of the samples"
  if (environment["gpu_count"] + 0 > most_gpus) most_gpus = environment["gpu_count"] + 0
  print "Launch overhead (ImplicitBarrier, fused sleep kernels)"
  for (i = 1; i <= launches; i++) {
    last = (launch[i] in many_gpus) && most_gpus > 1 ? most_gpus : 1
    for (gpus = 1; gpus <= last; gpus++)
      figure(launch[i], plural(gpus, "GPU"), "launch " launch[i] " " gpus, "ns")
  }
  print "Block barrier (BenchmarkIntraSM)"
  figure("blocksync", "32 threads", "block 32", "cycles")
  figure("blocksync", "1024 threads", "block 1024", "cycles")
  print "Grid barrier (BenchmarkInterSM, one GPU)"
  grid_figure(1, 32)
  grid_figure(2, 1024)
  if (("multi_grid_sync" in barrier_gpus) || ("peer_grid_sync" in barrier_gpus))
    print "Multi-GPU barrier (BenchmarkInterSM, 1 block/SM x 32 threads)"
  barrier_figures("multi_grid_sync")
  barrier_figures("peer_grid_sync")
}
