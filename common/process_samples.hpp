// Samples from several processes: how a process hands them over, and what a row
// says about them. Host code only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/statistics.hpp"

namespace syncbench {

/// What one process measured of one point: samples by the name of the quantity.
using NamedSamples = std::map<std::string, std::vector<double>>;

/// Samples of one quantity, process by process; equally many from each.
using ProcessSamples = std::vector<std::vector<double>>;

/// Samples of all processes, by the name of the quantity.
using Collected = std::map<std::string, ProcessSamples>;

/// Adds those of one more process.
void add_process(const NamedSamples& samples, Collected& collected);

Collected of_one_process(const NamedSamples& samples);

/// "name=1.5 2<tab>other=3 4": no tab, space or '=' in a name.
std::string samples_to_text(const NamedSamples& samples);

/// The words of `text` between tabs.
std::vector<std::string> split_tabs(const std::string& text);

/// Adds one "name=1.5 2" to `samples`; std::invalid_argument on anything else.
void add_samples(const std::string& word, NamedSamples& samples);

/// Mean, standard deviation and median of all samples of all processes, so that
/// the spread between processes is in them. The interval is that of the means
/// of the processes (Student's t, one degree of freedom less than processes):
/// the samples of one process are not independent. Of a single process it is
/// that of its samples.
Summary summarize_processes(const ProcessSamples& processes);

/// difference() of two totals sampled in the same processes: mean and standard
/// deviation as Eq. 6 to 8 of all samples, interval as summarize_processes()
/// from the difference that each process found.
Summary difference_of_processes(const ProcessSamples& longer,
                                const ProcessSamples& shorter, double steps);

}  // namespace syncbench
