// SPDX-License-Identifier: LGPL-2.1-or-later
// The incidents in the API: lists, pictures, acknowledgements and comments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "history/history.h"
#include "history/incidentquery.h"
#include "history/queries.h"
#include "web/exchange.h"

namespace luminance {

class IncidentApi {
 public:
  using Held = std::shared_ptr<Exchange>;
  /// Runs a query, whose text becomes the response to the exchange, with this media type.
  using Submit =
      std::function<void(const Held &exchange, Queries::Query query, const std::string &type)>;

  /// `history` has to outlive this object.
  IncidentApi(History *history, Submit submit) : history_(history), submit_(std::move(submit)) {}

  /// Answers a request. `rest`: the rest of the path: "", ".csv", "/ID" or "/ID/picture.jpg".
  /// `camera`: the id of the only camera whose incidents are listed. `user`: the user who asks, if
  /// known. Throws Refusal. The history must not be null.
  void answer(const Held &exchange, const std::string &rest,
              const std::optional<std::string> &camera, int64_t now, const std::string &user);

 private:
  void list(const Held &exchange, IncidentFilter filter, int64_t now);
  void csv(const Held &exchange, const IncidentFilter &filter, int64_t now);
  void one(const Held &exchange, int64_t number, int64_t now);
  void picture(const Held &exchange, int64_t number);
  void amend(const Held &exchange, int64_t number, int64_t now, const std::string &user);

  History *const history_;
  const Submit submit_;
};

}  // namespace luminance
