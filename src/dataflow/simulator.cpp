#include "dataflow/simulator.h"

#include <lockstep/error.h>

#include "dataflow/row_stationary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace lockstep::internal::dataflow {

namespace {

/// The items of one pass: `count` from `first` on.
struct Range {
  Count first;
  Count count;
};

Range part(Count number, Count size, Count all) {
  return {number * size, std::min(size, all - number * size)};
}

class Simulator {
 public:
  Simulator(const Operands& operands, const Chip& chip, const Mapping& mapping,
            const SimulationOptions& options)
      : layer_(layer_of(operands)),
        chip_(chip),
        mapping_(mapping),
        options_(options),
        filter_(operands.filter),
        input_(padded(operands)),
        loops_(loops_of(layer_, mapping)) {
    result_.output = Tensor(layer_.batch, layer_.filters, layer_.out_height(), layer_.out_width());
  }

  Simulation run() {
    for (Count block = 0; block < loops_.filter_blocks; ++block)
      for (Count group = 0; group < loops_.image_groups; ++group)
        for (Count strip = 0; strip < loops_.strips; ++strip)
          run_block(part(block, mapping_.m, layer_.filters), part(group, mapping_.n, layer_.batch),
                    strip);
    return std::move(result_);
  }

 private:
  void run_block(Range filters, Range images, Count strip) {
    const Count width = mapping_.p * mapping_.t;
    for (Count c = 0; c < loops_.channel_groups; ++c) {
      channels_ = part(c, mapping_.q * mapping_.r, layer_.channels);
      for (Count f = 0; f * width < filters.count; ++f) {
        filters_ = part(f, width, filters.count);
        filters_.first += filters.first;
        images_ = images;
        begin_pass(strip);
        for (Count n = 0; n < images_.count; ++n) run_image(images_.first + n);
        finish_sums();
      }
    }
  }

  /// Filters and channels are assigned to sets in turn, so that the last group is divided evenly.
  Count filter_sets() const { return std::min(mapping_.t, filters_.count); }
  Count channel_sets() const { return std::min(mapping_.r, channels_.count); }
  Count filter_turns() const { return ceil_div(filters_.count, mapping_.t); }
  Count channel_turns() const { return ceil_div(channels_.count, mapping_.r); }

  void begin_pass(Count strip) {
    const Range rows = part(strip, mapping_.e, layer_.out_height());
    columns_ = rows.count;
    layout_ = {.number = result_.counters.passes++, .elements = {}, .strip = strip};
    for (Count set = 0; set < mapping_.r * mapping_.t; ++set)
      for (Count j = 0; j < mapping_.e; ++j)
        for (Count i = 0; i < layer_.kernel_height; ++i)
          layout_.elements.push_back(element_at(set, i, j, rows.first + j));
    cycle_.pass = layout_.number;
    psums_.assign(layout_.elements.size(), 0);
    const Count words =
        filters_.count * channels_.count * layer_.kernel_height * layer_.kernel_width;
    cycle_.filter_words += words;
    result_.counters.array.filter += words * columns_;
    if (options_.on_pass) options_.on_pass(layout_);
  }

  Element element_at(Count set, Count i, Count j, Count out_row) const {
    const Placement placement = place(layer_, chip_, mapping_.e);
    const Count down = set % placement.down * placement.folds + j / chip_.columns;
    const Count across = set / placement.down * mapping_.e + j % chip_.columns;
    return {.number = number_of(set, i, j),
            .row = i,
            .array_row = down * layer_.kernel_height + i,
            .array_column = across,
            .out_row = out_row,
            .input_row = out_row * layer_.stride + i};
  }

  Count number_of(Count set, Count i, Count j) const {
    return (set * mapping_.e + j) * layer_.kernel_height + i;
  }

  void run_image(Count image) {
    for (Count x = 0; x < layer_.out_width(); ++x) {
      fetch_inputs(x);
      for (Count f = 0; f < filter_turns(); ++f) {
        std::fill(psums_.begin(), psums_.end(), 0);
        if (options_.serial)
          multiply_in_turn(image, f, x);
        else
          multiply(image, f, x);
        send_up(image, f, x);
        if (options_.serial) finish_sums();
      }
    }
  }

  /// Reads the columns that are new in the window, for all rows of the strip.
  void fetch_inputs(Count x) {
    const Count fresh = x == 0 ? layer_.kernel_width : std::min(layer_.stride, layer_.kernel_width);
    const Count words = channels_.count * fresh;
    cycle_.ifmap_words += words * layer_.used_rows(columns_);
    result_.counters.array.ifmap += words * layer_.kernel_height * columns_ * filter_sets();
  }

  void finish_sums() {
    while (!pending_hops_.empty() || !pending_writes_.empty()) end_cycle();
  }

  /// All elements at once.
  void multiply(Count image, Count f, Count x) {
    for (Count c = 0; c < channel_turns(); ++c)
      for (Count tap = 0; tap < layer_.kernel_width; tap += options_.mac_width) {
        for (Count set = 0; set < mapping_.r * mapping_.t; ++set)
          if (const auto product = product_of(set, image, f, c, x, tap))
            for (Count j = 0; j < columns_; ++j)
              for (Count i = 0; i < layer_.kernel_height; ++i)
                multiply_at(number_of(set, i, j), *product);
        end_product_cycle();
      }
  }

  /// One element after another, in the order of their numbers, each with all its products.
  void multiply_in_turn(Count image, Count f, Count x) {
    for (Count set = 0; set < mapping_.r * mapping_.t; ++set)
      for (Count j = 0; j < columns_; ++j)
        for (Count i = 0; i < layer_.kernel_height; ++i)
          for (Count c = 0; c < channel_turns(); ++c)
            for (Count tap = 0; tap < layer_.kernel_width; tap += options_.mac_width)
              if (const auto product = product_of(set, image, f, c, x, tap)) {
                multiply_at(number_of(set, i, j), *product);
                end_product_cycle();
              }
  }

  /// The product that the elements of a set make next; none if the last group has no filter or no
  /// channel for the set.
  std::optional<Product> product_of(Count set, Count image, Count f, Count c, Count x,
                                    Count tap) const {
    const Count filter = f * mapping_.t + set / mapping_.r;
    const Count channel = c * mapping_.r + set % mapping_.r;
    if (filter >= filters_.count || channel >= channels_.count) return {};
    return Product{.element = 0,
                   .image = image,
                   .filter = filters_.first + filter,
                   .channel = channels_.first + channel,
                   .out_column = x,
                   .tap = tap,
                   .count = std::min(options_.mac_width, layer_.kernel_width - tap),
                   .psum = 0};
  }

  void multiply_at(Count number, Product product) {
    const Element& element = layout_.elements[static_cast<std::size_t>(number)];
    Value& psum = psums_[static_cast<std::size_t>(number)];
    for (Count s = product.tap; s < product.tap + product.count; ++s)
      psum += filter_.at(product.filter, product.channel, element.row, s) *
              input_.at(product.image, product.channel, element.input_row,
                        product.out_column * layer_.stride + s);
    result_.counters.macs += product.count;
    product.element = number;
    product.psum = psum;
    if (options_.on_cycle) cycle_.products.push_back(product);
  }

  void end_product_cycle() {
    ++result_.counters.product_cycles;
    end_cycle();
  }

  /// Sets of the same filter but different channels are chained: their columns form one chain,
  /// which ends at the top of the first set.
  void send_up(Count image, Count f, Count x) {
    for (Count ti = 0; ti < filter_sets(); ++ti) {
      const Count filter = f * mapping_.t + ti;
      if (filter >= filters_.count) continue;
      for (Count j = 0; j < columns_; ++j) send_chain_up(ti, j, image, filters_.first + filter, x);
    }
  }

  void send_chain_up(Count ti, Count j, Count image, Count filter, Count x) {
    std::vector<Count> chain;  // from the top down
    for (Count ri = 0; ri < channel_sets(); ++ri)
      for (Count i = 0; i < layer_.kernel_height; ++i)
        chain.push_back(number_of(ti * mapping_.r + ri, i, j));
    const auto psum = [this](Count element) { return psums_[static_cast<std::size_t>(element)]; };
    const Count out_row = layout_.elements[static_cast<std::size_t>(chain[0])].out_row;
    Value sum = psum(chain.back());
    Count when = now_ + 1;
    for (std::size_t at = chain.size() - 1; at > 0; --at, ++when) {
      const Value received = sum;
      sum += psum(chain[at - 1]);
      pending_hops_[when].push_back(
          {chain[at], chain[at - 1], image, filter, out_row, x, sum, received});
    }
    if (options_.serial && chain.size() > 1) --when;
    pending_writes_[when].push_back(
        {chain[0], image, filter, out_row, x, sum, channels_.first > 0});
  }

  void end_cycle() {
    cycle_.number = ++now_;
    take(pending_hops_, cycle_.hops);
    take(pending_writes_, cycle_.writes);
    for (Write& write : cycle_.writes) {
      Value& stored = result_.output.at(write.image, write.filter, write.out_row, write.out_column);
      stored += write.sum;
      write.sum = stored;
    }
    count();
    if (options_.on_cycle) options_.on_cycle(cycle_);
    cycle_ = {};
    cycle_.pass = layout_.number;
  }

  template <typename Event>
  void take(std::map<Count, std::vector<Event>>& pending, std::vector<Event>& into) {
    const auto due = pending.find(now_);
    if (due == pending.end()) return;
    into = std::move(due->second);
    pending.erase(due);
  }

  void count() {
    Counters& counters = result_.counters;
    counters.cycles = now_;
    counters.buffer_reads += {cycle_.filter_words, cycle_.ifmap_words, 0};
    counters.array.psum += static_cast<Count>(cycle_.hops.size());
    counters.buffer_writes += static_cast<Count>(cycle_.writes.size());
    for (const Write& write : cycle_.writes) counters.buffer_reads.psum += write.read ? 1 : 0;
    counters.registers = {counters.macs, counters.macs, 2 * counters.macs};
  }

  const Layer layer_;
  const Chip& chip_;
  const Mapping mapping_;
  const SimulationOptions& options_;
  const Tensor& filter_;
  const Tensor input_;
  const Loops loops_;
  Simulation result_;

  // The current pass.
  Range filters_{}, channels_{}, images_{};
  Count columns_ = 0;  ///< output rows of the strip: the last may have fewer
  PassLayout layout_;
  std::vector<Value> psums_;

  Count now_ = 0;
  Cycle cycle_;
  std::map<Count, std::vector<Hop>> pending_hops_;
  std::map<Count, std::vector<Write>> pending_writes_;
};

}  // namespace

Simulation simulate(const Operands& operands, const Chip& chip, const Mapping& mapping,
                    const SimulationOptions& options) {
  require_sound(chip);
  require_allowed(layer_of(operands), chip, mapping);
  if (options.mac_width < 1)
    throw UsageError("an element must multiply at least once per cycle: use --mac-width 1 or more");
  return Simulator(operands, chip, mapping, options).run();
}

}  // namespace lockstep::internal::dataflow
