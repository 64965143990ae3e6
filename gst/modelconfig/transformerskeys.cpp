// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/transformerskeys.h"

namespace cudatensor::modelconfig {
namespace {

constexpr std::string_view kRead =
    "do_resize size resample default_to_square max_size do_center_crop crop_size crop_pct"
    " do_rescale rescale_factor do_normalize image_mean image_std do_pad pad_size"
    " do_flip_channel_order ensure_multiple_of keep_aspect_ratio";

// Keys that some classes read in addition to those that all classes read.
constexpr std::string_view kKeysOfSomeClass =
    "add_timestamps apply_ocr background_color cap_pixels_per_frame character_list class_info_file"
    " clusters constant_values crop_to_patches dense_max_aspect dense_max_patches dense_max_scale"
    " dense_min_aspect downsample_factor downsample_mode downsample_ratio draw_on_frames dynamic_hd"
    " encoder_patch_size fine_route font frame_timestamp_format header_text high_res_image_mean"
    " high_res_image_std high_res_resample high_res_size ignore_index image_area"
    " image_grid_pinpoints image_num_channels image_size include_top initial_shift"
    " input_size_patches is_vqa keypoint_heatmap_downscale_factor keypoint_heatmap_sigma"
    " limit_side_len limit_type load_audio_from_video mask_group_max_aspect_ratio"
    " mask_group_max_patches mask_group_min_aspect_ratio mask_group_min_patches mask_pad_size"
    " mask_size max_crops max_duration max_fps max_frames max_image_size max_image_tiles"
    " max_image_tokens max_image_width max_model_len max_num_frames max_num_patches max_num_tiles"
    " max_patches max_pixels max_pixels_tolerance max_side max_side_limit max_size max_slice_nums"
    " max_soft_tokens max_tiles max_video_frame_tokens max_video_tokens maximum_pad_value"
    " merge_size min_frames min_image_size min_image_tokens min_num_patches min_patches min_pixels"
    " min_size min_tiles norm_mean norm_std normalize_factor num_text ocr_lang offset"
    " overflow_strategy overlap_margins pad_mode padding_mode padding_value"
    " pan_and_scan_max_num_crops pan_and_scan_min_crop_size pan_and_scan_min_ratio_to_activate"
    " patch_expand_factor patch_size pooling_kernel_size pooling_size prompt_scale_to_meter ratio"
    " repo_path rescale_image_frac rescale_image_max_upscaled_long_edge rescale_offset resize_short"
    " resize_to_max_canvas return_codebook_pixels return_image_mask return_legacy_image_output"
    " return_row_col_info scale_resolution size_divisibility size_divisor slice_mode"
    " small_image_upsize spatial_factor split_image split_resolutions stack_frames"
    " temporal_patch_size tesseract_config tile_size total_mask_patches total_pixels transform"
    " use_covering_area_grid use_image_id use_square_size use_thumbnail use_token_compression"
    " video_maintain_aspect_ratio video_target_num_patches vision_input_type"
    " vision_segment_max_frames codebook_crop_size codebook_do_center_crop codebook_do_map_pixels"
    " codebook_do_normalize codebook_do_rescale codebook_do_resize codebook_image_mean"
    " codebook_image_std codebook_resample codebook_rescale_factor codebook_size";

// Keys of annotations, labels, frames and memory, and of pictures that are not RGB: pictures here
// always are.
constexpr std::string_view kBookkeeping =
    "do_convert_rgb do_reduce_labels reduce_labels do_convert_annotations do_sample_frames format"
    " data_format input_data_format device return_tensors disable_grouping image_seq_length fps"
    " num_frames video_metadata return_metadata num_labels pad_and_return_pixel_mask"
    " processor_class auto_map image_processor_type feature_extractor_type video_processor_type";

}  // namespace

bool has_word(std::string_view words, const std::string &word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return !word.empty();
  }
  return false;
}

bool is_read(const std::string &key) { return has_word(kRead, key); }
bool is_bookkeeping(const std::string &key) { return has_word(kBookkeeping, key); }
bool is_key_of_some_class(const std::string &key) { return has_word(kKeysOfSomeClass, key); }

}  // namespace cudatensor::modelconfig
