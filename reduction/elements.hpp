// The types of the elements that are summed.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace syncbench::reduction {

enum class Element { kInt, kFloat, kDouble };

struct ElementType {
  Element element;
  const char* name;  ///< for --type and the column `type`
  std::size_t size;  ///< bytes
  /// Largest relative error of one addition: half the distance from 1 to the
  /// next number. 0: sums are exact.
  double roundoff;
};

/// Of which the study's tables of arrays are here; of the others rows are
/// evidence.
inline constexpr const char* kShownArrays = "float";
/// The same of the study's model.
inline constexpr const char* kShownModel = "double";

/// In the order of rows; double first, as in the study.
inline constexpr std::array<ElementType, 3> kElementTypes = {{
    {Element::kDouble, "double", sizeof(double), 0x1p-53},
    {Element::kFloat, "float", sizeof(float), 0x1p-24},
    {Element::kInt, "int", sizeof(int), 0},
}};

/// visit(T()) of the type T that `element` stands for.
template <class Visitor>
auto with_type(Element element, Visitor visit) {
  if (element == Element::kInt) return visit(int());
  if (element == Element::kFloat) return visit(float());
  return visit(double());
}

/// A new Derived<T> of that type, as its Base.
template <class Base, template <class> class Derived, class... Arguments>
std::unique_ptr<Base> make_for(Element element, Arguments... arguments) {
  return with_type(element, [&](auto zero) -> std::unique_ptr<Base> {
    return std::make_unique<Derived<decltype(zero)>>(arguments...);
  });
}

}  // namespace syncbench::reduction
