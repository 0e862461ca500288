// Names of C++.
namespace ns {
struct box {
	int n;
	explicit box(int);
	~box();
	int get(long) const;
	box &operator+=(int);
};
__attribute__((noinline)) box::box(int n) : n(n) {}
__attribute__((noinline)) box::~box() { n = 0; }
__attribute__((noinline)) int box::get(long m) const { return n + m; }
__attribute__((noinline)) box &box::operator+=(int m) { n += m; return *this; }
__attribute__((noinline)) int f(int n) { return n + 1; }
__attribute__((noinline)) int f(unsigned n, const char *s) { return n + s[0]; }
__attribute__((noinline)) int once(box *b) { return b->n; }
template <typename T> __attribute__((noinline)) T twice(T x) { return x + x; }
namespace { __attribute__((noinline, used)) int hidden(int n) { return n; } }
template int twice<int>(int);
template long twice<long>(long);
}
int plain(int n) { return n; }
extern "C" void _start() {}
