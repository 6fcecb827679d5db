# shellcheck shell=bash
# What a run's folder says about the machine. Sourced after lib.sh. Only what
# explains a number is kept: no host, user or path names, no serial numbers.

# device_column TABLE NAME: the values of one column of a --devices table.
device_column() {
  awk -F '\t' -v name="$2" '
    /^#/ { next }
    !column { for (i = 1; i <= NF; i++) if ($i == name) column = i
              if (!column) exit; next }
    { print $column }' <<<"$1"
}

# device_values DEVICES GPU_COUNT NAME: "a" for these GPUs, "a; b" when they differ.
device_values() {
  device_column "$1" "$3" | head -n "$2" | awk '!seen[$0]++' | paste -sd ';' |
    sed 's/;/; /g' | first_line
}

# smi_field BUS_IDS FIELD: the value on these GPUs; "a, b" when they differ.
smi_field() {
  local values
  # Each field is asked for by itself: an older driver that does not know one
  # would refuse them all.
  values=$(nvidia-smi -i "$1" --query-gpu="$2" --format=csv,noheader 2>/dev/null |
    sort -u | paste -sd ',' | sed 's/,/, /g') || values=
  printf '%s\n' "${values:-unknown}"
}

first_line() {
  local line
  IFS= read -r line || true
  printf '%s\n' "${line:-unknown}"
}

# suite_commit EXECUTABLE: what it was built from, by its --version line:
# NAME 0.1.0 (commit abc123, CUDA 13.0)
suite_commit() {
  "$1" --version 2>/dev/null | sed -n 's/.*(commit \([^,)]*\).*/\1/p' | first_line
}

# toolkit_of EXECUTABLE: the CUDA release that built it, which need not be the
# one that is found here now.
toolkit_of() {
  "$1" --version 2>/dev/null | sed -n 's/.*, CUDA \([0-9.]*\)).*/\1/p' | first_line
}

# environment_rows DEVICES GPU_COUNT EXECUTABLE [CUDA11_EXECUTABLE]
environment_rows() {
  local bus_ids
  bus_ids=$(device_column "$1" pci_bus_id | head -n "$2" | paste -sd ',')
  row() { printf '%s\t%s\n' "$1" "$(tr '\t\n' '  ' <<<"${2:-unknown}" | sed 's/ *$//')"; }
  row key value
  row gpu "$(device_values "$1" "$2" name)"
  row gpu_count "$2"
  row compute_capability "$(device_values "$1" "$2" compute_capability)"
  row sms "$(device_values "$1" "$2" sms)"
  row driver "$(smi_field "$bus_ids" driver_version)"
  row driver_cuda "$(nvidia-smi 2>/dev/null |
    sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | first_line)"
  row cuda_toolkit "$(toolkit_of "$3")"
  if [[ -n ${4:-} ]]; then row cuda_toolkit_multi_grid "$(toolkit_of "$4")"; fi
  row sm_clock_at_start "$(smi_field "$bus_ids" clocks.sm)"
  row sm_clock_max "$(smi_field "$bus_ids" clocks.max.sm)"
  row sm_clock_application "$(smi_field "$bus_ids" clocks.applications.graphics)"
  row ecc "$(smi_field "$bus_ids" ecc.mode.current)"
  row mig "$(smi_field "$bus_ids" mig.mode.current)"
  row persistence_mode "$(smi_field "$bus_ids" persistence_mode)"
  row cpu "$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | first_line)"
  row cpu_cores "$(LC_ALL=C lscpu -p=Core,Socket 2>/dev/null | sed '/^#/d' | sort -u |
    awk 'END { if (NR) print NR }')"
  row os "$(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\).*/\1/p' /etc/os-release 2>/dev/null |
    first_line)"
  # What follows the version number names a distribution or a site.
  row kernel "$(uname -sr | sed -E 's/^([^ ]+ [0-9]+(\.[0-9]+)*).*/\1/')"
  row suite_commit "$(suite_commit "$3")"
  row date_utc "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# environment_value FILE KEY
environment_value() {
  awk -F '\t' -v key="$2" '$1 == key { print $2; exit }' "$1"
}

topology() {
  local table
  if table=$(nvidia-smi topo -m 2>/dev/null); then
    # nvidia-smi underlines its header even in a file.
    printf '%s\n' "$table" | sed 's/\x1b\[[0-9;]*m//g'
  else
    printf 'not available: nvidia-smi topo -m did not run\n'
  fi
}
