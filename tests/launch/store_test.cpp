#include <lockstep/error.h>

#include "base/random.h"
#include "launch/store_client.h"
#include "launch/store_server.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>

#include <thread>

namespace lockstep::launch {
namespace {

using std::chrono::milliseconds;

Deadline soon() {
  return Deadline::after(milliseconds(5000));
}

TEST(Store, GetWaitsForSet) {
  StoreServer server;
  server.start();
  StoreClient reader(server.address(), soon());
  std::jthread writer([&] {
    StoreClient client(server.address(), soon());
    std::this_thread::sleep_for(milliseconds(50));
    client.set("key", "value");
  });
  EXPECT_EQ(reader.get("key", soon()), "value");
  EXPECT_EQ(reader.get("key", soon()), "value");
}

TEST(Store, ValuesMayBeAnyBytes) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), soon());
  const std::string bytes("a\0b\xff", 4);
  client.set("", bytes);
  client.set("long", std::string(20'000, 'x'));
  EXPECT_EQ(client.get("", soon()), bytes);
  EXPECT_EQ(client.get("long", soon()).size(), 20'000u);
}

TEST(Store, ASecondClaimIsRefused) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), soon());
  client.set("rank 3", "pid 7");
  try {
    client.set("rank 3", "pid 8");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "two processes claim to be rank 3, one of them pid 7: start each only once");
  }
}

TEST(Store, AKeyThatNeverComesIsATimeout) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), soon());
  EXPECT_THROW(client.get("never", Deadline::after(milliseconds(100))), TimeoutError);
}

TEST(Store, ASignalDoesNotStretchTheDeadline) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), soon());
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ::sigaction(SIGUSR1, &action, &before);
  const pthread_t waiting = ::pthread_self();
  std::jthread disturber([waiting] {
    std::this_thread::sleep_for(milliseconds(50));
    ::pthread_kill(waiting, SIGUSR1);
  });
  EXPECT_THROW(client.get("never", Deadline::after(milliseconds(200))), TimeoutError);
  disturber.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(Store, NobodyListeningIsATimeoutThatNamesTheAddress) {
  Address address;
  {
    StoreServer server;
    address = server.address();
  }
  try {
    StoreClient client(address, Deadline::after(milliseconds(100)));
    FAIL();
  } catch (const TimeoutError& error) {
    EXPECT_NE(std::string(error.what()).find(address.text()), std::string::npos);
  }
}

TEST(Store, APortInUseIsAnErrorThatNamesIt) {
  StoreServer server;
  EXPECT_THROW(StoreServer second(server.address()), Error);
}

TEST(Store, StrangersAreNotServed) {
  EXPECT_THROW(StoreServer server({"0.0.0.0", 0}), UsageError);
}

TEST(Store, GarbageDropsTheConnectionAndDisturbsNobody) {
  StoreServer server;
  server.start();
  StoreClient good(server.address(), soon());
  Random random(1);
  for (int stranger = 0; stranger < 200; ++stranger) {
    UniqueFd socket = connect_to(server.address(), soon());
    std::string garbage(1 + random.below(64), '\0');
    for (char& byte : garbage) byte = static_cast<char>(random.next());
    ::send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  good.set("key", "value");
  EXPECT_EQ(good.get("key", soon()), "value");
}

TEST(Frame, SurvivesAnyCut) {
  const std::string whole = make_frame("hello") + make_frame("") + make_frame("world");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    std::string buffer = whole.substr(0, cut);
    std::string text;
    while (auto payload = take_frame(buffer)) text += *payload + ";";
    buffer += whole.substr(cut);
    while (auto payload = take_frame(buffer)) text += *payload + ";";
    ASSERT_EQ(text, "hello;;world;");
  }
}

TEST(Frame, TooLongIsAnErrorNotAnAllocation) {
  std::string buffer("\xff\xff\xff\xff", 4);
  EXPECT_THROW(take_frame(buffer), Error);
}

TEST(Frame, RequestsAreDecodedOrRefused) {
  const StoreRequest request{StoreRequest::Kind::set, "key", "value"};
  const StoreRequest same = StoreRequest::decode(request.encode());
  EXPECT_EQ(same.key, "key");
  EXPECT_EQ(same.value, "value");
  EXPECT_THROW(StoreRequest::decode(""), Error);
  EXPECT_THROW(StoreRequest::decode(std::string("\x03\x00\x00", 3)), Error);
  EXPECT_THROW(StoreRequest::decode(std::string("\x01\x05\x00key", 6)), Error);
}

}  // namespace
}  // namespace lockstep::launch
