// SPDX-License-Identifier: LGPL-2.1-or-later
// The stage before the decoder, which leaves out the pictures that no wanted frame needs.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "gst/library/frames/framecounter.h"
#include "gst/library/frames/framepicks.h"
#include "gst/library/frames/frameseeker.h"
#include "gst/library/frames/framestage.h"
#include "gst/library/frames/randomaccess.h"

namespace cudatensor {

/// A group of pictures starts at a random access point. A wanted frame needs the pictures of its
/// group that are decoded before it, except those to which no picture refers. A frame that is shown
/// before the random access point of an open group also needs the previous group. Other pictures
/// are not passed on.
///
/// After this stage, timestamps are stream time plus kOrigin, whatever the segments before it.
/// Frames outside the segments are not picked.
class CodedFrames final : public FrameStage {
 public:
  /// An offset that keeps all timestamps positive, because decoders have no negative ones.
  static constexpr GstClockTime kOrigin = 3600 * GST_SECOND;

  struct Options {
    bool may_drop = true;   ///< false: pass on everything, as for live sources
    bool may_seek = false;  ///< whether the demuxer's seeks are exact
    /// Whether the decoder outputs the frame of an open random access point without earlier
    /// pictures.
    bool may_start_open = true;
  };

  /// With a `counter`, nothing is passed on if the frames can be counted here.
  CodedFrames(const FrameSelection &selection, std::shared_ptr<FramePicks> picks,
              FrameCounter *counter)
      : chooser_(selection), picks_(std::move(picks)), counter_(counter) {}

  /// Sets the error to report at end of stream. It is posted as a warning, because earlier frames
  /// are still under way.
  void set_end_warning(std::string text) { end_warning_ = std::move(text); }
  /// Called before the first buffer.
  void set_options(Options options) { options_ = options; }
  /// Sets a function that the streaming thread calls at end of stream instead of sending EOS, if
  /// the decoder has received no picture and would report an error.
  void set_on_unused(std::function<void()> on_unused) { on_unused_ = std::move(on_unused); }
  /// Waits until no seek is under way. Called after the pipeline has stopped.
  void wait_for_seeks() { seeker_.finish(); }
  /// Returns whether frames are picked here. If not, they must be chosen after the decoder. Known
  /// once the first buffer has been passed on.
  bool is_picking() const { return mode_ == Mode::picking || mode_ == Mode::marking; }

  /// Returns how many coded pictures were passed on to the decoder.
  guint64 passed_on() const { return passed_on_; }

  /// Returns the chroma site for frames whose decoder does not state one; null if it is not known.
  /// Set before the decoder has caps.
  const gchar *chroma_site() const { return chroma_site_; }

  GstFlowReturn chain(Ref<GstBuffer> buffer) override;
  bool event(Ref<GstEvent> event) override;
  bool query(GstQuery *query) override;
  void stop() override { seeker_.stop(); }

 private:
  enum class Mode {
    unknown,
    picking,
    marking,  ///< key frames are picked, but all pictures are passed on
    passing
  };

  /// A coded picture.
  struct Picture {
    Ref<GstBuffer> buffer;
    GstClockTime pts;  // the timestamp of the input, not in stream time
    gsize size;        // bytes
    guint64 number;    // in decoding order
    StreamTime time;
    StreamTime end;  // used if no frame follows
    guint64 group;
    RandomAccess access;
    bool is_keyframe;
    bool is_shown;
    bool is_reference;
    bool is_unwanted = false;  // whether its frame is known to be unwanted
  };
  struct Group {
    RandomAccess access;
    StreamTime begin;
  };
  /// A frame that waits until the next frame to be shown is known.
  struct Shown {
    guint64 number, group;
    StreamTime time, end;
    RandomAccess access;
    bool is_keyframe;
  };

  void decide(GstBuffer *first);
  GstFlowReturn add(Ref<GstBuffer> buffer);
  bool has_missed(const Picture &first) const;
  GstFlowReturn land(Picture picture);
  GstFlowReturn wait(Picture picture);
  bool is_keyframe(GstBuffer *buffer) const;
  Ref<GstBuffer> marked(Ref<GstBuffer> buffer);
  Ref<GstBuffer> shifted(Ref<GstBuffer> buffer) const;
  GstFlowReturn give_up();
  Picture describe(Ref<GstBuffer> buffer);
  StreamTime unique_time(StreamTime time) const;
  StreamTime end_of(const Shown &last) const;
  GstFlowReturn push(Ref<GstBuffer> buffer);
  bool push(GstEvent *event);
  /// Returns whether events are withheld, so that no decoder is created: frames that are counted
  /// here need none.
  bool withholds() const { return counter_ != nullptr && !is_used_; }
  GstFlowReturn settle(size_t most_waiting);
  void finish();
  GstFlowReturn settle(const Shown &frame, StreamTime next);
  GstFlowReturn pass_until(const Shown &frame);
  GstFlowReturn pass(Picture picture);
  bool leads(const Shown &frame) const;
  Picture take_held();
  void set_unwanted(const Shown &frame);
  void drop_groups_before(guint64 group);
  bool is_next_waiting() const;
  GstFlowReturn check_held();
  void end();
  void reset_decoder();
  void clear();
  GstFlowReturn seek_if_far(StreamTime time);
  GstFlowReturn seek_to(StreamTime time);
  bool begin_stream(Ref<GstEvent> event);

  FrameChooser chooser_;
  std::shared_ptr<FramePicks> picks_;
  FrameCounter *const counter_;  // null: frames are passed on
  Options options_;
  std::atomic<Mode> mode_{Mode::unknown};
  std::atomic<const gchar *> chroma_site_{nullptr};
  bool shifts_ = false;                 // whether timestamps are still shifted after give_up()
  std::optional<GstClockTime> latest_;  // the highest timestamp so far, in the segment
  Ref<GstEvent> segment_event_;
  GstSegment segment_ = {};
  std::optional<RandomAccessFinder> finder_;
  bool is_ended_ = false, is_used_ = false;
  std::atomic<guint64> passed_on_{0};
  std::deque<Ref<GstEvent>> withheld_;
  std::function<void()> on_unused_;
  std::string end_warning_;  // empty if there is none

  guint64 number_ = 0, group_ = 0;
  guint64 passed_ = 0;        // the number of the picture after the last one that was passed on
  guint64 unled_group_ = 0;   // the group whose leading pictures cannot be decoded
  std::deque<Picture> held_;  // in decoding order
  gsize held_bytes_ = 0;
  std::map<guint64, Group> groups_;
  std::map<StreamTime, Shown> waiting_;
  StreamTime settled_ = -kNever / 2;  // the time of the last decided frame
  StreamTime frame_duration_ = 1;     // for a last frame without a duration

  FrameSeeker seeker_;
  bool lands_ = false;  // the next picture is the first after a seek
  StreamTime target_ = 0;
  StreamTime left_ = -kNever;  // the last random access point before the seek
};

}  // namespace cudatensor
