// The passes of small_map_kernels.h, for maps of either size.
#include "engine/onednn/small_map_convolve.inl"
#include "engine/onednn/small_map_gradients.inl"

namespace lockstep::engine::onednn {

namespace {

void forward(const float* input, const float* weights, const float* bias, float* output,
             float* scratch, const SmallMapShape& shape) {
  const Side in{shape.channels_in / kBlock, kWeightsBlock};
  const Side out{shape.channels_out / kBlock, in.blocks * kWeightsBlock};
  auto run = [&]<std::size_t size>() {
    const Convolve<Forward<size>> convolve{input,   weights,     bias, output,
                                           scratch, shape.batch, in,   out};
    convolve.run(shape.threads);
  };
  shape.map == 2 ? run.template operator()<2>() : run.template operator()<4>();
}

void backward_data(const float* gradient, const float* weights, float* input_gradient,
                   float* scratch, const SmallMapShape& shape) {
  const Side in{shape.channels_in / kBlock, kWeightsBlock};
  const Side out{shape.channels_out / kBlock, in.blocks * kWeightsBlock};
  auto run = [&]<std::size_t size>() {
    const Convolve<BackwardData<size>> convolve{gradient, weights,     nullptr, input_gradient,
                                                scratch,  shape.batch, out,     in};
    convolve.run(shape.threads);
  };
  shape.map == 2 ? run.template operator()<2>() : run.template operator()<4>();
}

void backward_weights(const float* input, const float* gradient, float* weights_gradient,
                      float* bias_gradient, float* scratch, const SmallMapShape& shape) {
  auto run = [&]<std::size_t size>() {
    const FindGradients<size> find{
        input,   gradient,    weights_gradient,           bias_gradient,
        scratch, shape.batch, shape.channels_in / kBlock, shape.channels_out / kBlock};
    find.run(shape.threads);
  };
  shape.map == 2 ? run.template operator()<2>() : run.template operator()<4>();
}

}  // namespace

}  // namespace lockstep::engine::onednn
