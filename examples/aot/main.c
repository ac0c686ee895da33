/* Calls @forward of layer.mlir, compiled ahead of time: no Python, nothing but libc and libm. */
#include <stdio.h>

#include "layer.h"

int main(void) {
  const float x[LAYER_FORWARD_ARG0_ELEMENTS] = {1, 2, 3, 4, -1, 0.5f, -2, 1};
  /* Codes of f8E4M3FN: 0x38 is 1, 0x40 is 2, 0xB0 is -0.5. */
  const uint8_t w[LAYER_FORWARD_ARG1_ELEMENTS] = {0x38, 0x40, 0xB0, 0x38, 0x38, 0x38,
                                                0x40, 0xB0, 0x38, 0x38, 0x40, 0x40};
  float relu[LAYER_FORWARD_RES0_ELEMENTS];
  uint8_t codes[LAYER_FORWARD_RES1_ELEMENTS];
  layer_forward(x, w, relu, codes);
  for (int i = 0; i < LAYER_FORWARD_RES0_ELEMENTS; i++) {
    printf("%g 0x%02X\n", relu[i], codes[i]);
  }
  return 0;
}
