#include "evershard/compat/umadb/uma_service.hpp"

#include "evershard/compat/umadb/uma_door.hpp"
#include "evershard/compat/umadb/uma_status.hpp"
#include "evershard/doors/grpc/make_service.hpp"
#include "evershard/umadb/umadb.grpc.pb.h"
#include "evershard/umadb/umadb_unversioned.grpc.pb.h"

namespace evershard::umadb {

door::DoorServices services() {
  ::umadb::Unversioned::descriptor();
  return {.speaks = "umadb",
          .make = [](door::Calls& calls) -> std::vector<std::shared_ptr<grpc::Service>> {
            return {door::make_service<UmaService<::umadb::v1::DCB>>(calls),
                    door::make_service<UmaService<::umadb::UmaDBService>>(calls)};
          },
          .status = status_of,
          .healthy = {"umadb.v1.DCB"}};
}

}  // namespace evershard::umadb
